//! Temporary.
use norn_abi::*;
fn main() {
    let mut a: Vec<_> = std::env::args_os().skip(1).collect();
    let mut values = true;
    let mut order = norn_trace::Order::Local;
    let mut dump = false;
    while a[0].to_str().unwrap().starts_with("--") {
        let f = a.remove(0);
        match f.to_str().unwrap() {
            "--no-values" => values = false,
            "--global" => order = norn_trace::Order::Global,
            "--dump" => dump = true,
            _ => panic!(),
        }
    }
    let o = norn_record::Options {
        command: a,
        output: "/tmp/out.norn".into(),
        order,
        values,
        max_size: 64 << 30,
        version: "x".into(),
    };
    let t = std::time::Instant::now();
    let r = norn_record::record(&o).unwrap();
    let el = t.elapsed();
    let mut n = 0u64;
    let mut calls = 0u64;
    let mut unk = 0u64;
    let mut by = std::collections::BTreeMap::new();
    let mut total = 0;
    for p in &r.run.processes {
        let f = std::fs::read(format!("/tmp/out.norn/{}.chunks", p.number)).unwrap();
        total += f.len();
        let mut at = 0;
        while at + 64 <= f.len() {
            let w = |o: usize| u32::from_ne_bytes(f[at + o..at + o + 4].try_into().unwrap());
            let len = w(8) as usize;
            let thread = w(16);
            let frames = w(44) as usize;
            let last = u64::from_ne_bytes(f[at + 48..at + 56].try_into().unwrap());
            let body = &f[at + 64 + frames * 8..at + 64 + len];
            let mut d = Decoder::new(
                body,
                codec::Format { values, global: order == norn_trace::Order::Global },
                last,
            );
            loop {
                match d.next_record() {
                    Ok(None) => break,
                    Ok(Some(r)) => {
                        if dump {
                            println!("{thread} {r:x?}");
                        }
                        match r {
                            Record::Leave => calls += 1,
                            Record::Event { kind, value, .. } => {
                                if kind == Kind::Enter {
                                    calls += 1
                                } else {
                                    n += 1;
                                    if kind.as_access().is_some() && value.is_none() {
                                        unk += 1
                                    }
                                }
                                *by.entry(kind).or_insert(0u64) += 1;
                            }
                        }
                    }
                    Err(e) => {
                        println!("FAULT {e:?} in chunk at {at} len {len}");
                        break;
                    }
                }
            }
            at += 64 + len;
        }
    }
    eprintln!(
        "{:?} {:?} events {n} calls {calls} unknown {unk} bytes {total} b/ev {:.2} b/rec {:.2} {:.1} Mev/s",
        r.status,
        el,
        total as f64 / n as f64,
        total as f64 / (n + calls) as f64,
        n as f64 / el.as_secs_f64() / 1e6
    );
    if by.len() < 60 {
        eprintln!("{by:?}");
    }
    eprintln!("{:?} {:?}", r.run.stopped, r.run.processes);
}
