//! Drives a headless Chromium by its debugging protocol, over a pipe.
//!
//! The browser reads commands from descriptor 3 and writes answers to descriptor 4, each a JSON text that ends
//! with a zero byte. A shell connects them with the standard streams of the process, so that neither a
//! port nor another library is needed.

use std::{
    fs,
    io::{BufRead as _, BufReader, Write as _},
    path::Path,
    process::{Child, ChildStdin, ChildStdout, Command, Stdio},
};

use serde_json::{Value, json};

/// A browser with one page.
#[derive(Debug)]
pub struct Browser {
    process: Child,
    commands: ChildStdin,
    answers: BufReader<ChildStdout>,
    session: Value,
    id: u64,
    /// What the page complained about: exceptions, and what its policy refused.
    complaints: Vec<String>,
}

impl Browser {
    /// Opens a file in a window of this size. The profile of the browser is written to `folder`.
    pub fn open(page: &Path, folder: &Path, (width, height): (u32, u32)) -> Browser {
        let profile = folder.join("profile");
        fs::create_dir_all(&profile).unwrap();
        let script = "exec chromium --headless --no-sandbox --disable-gpu --disable-dev-shm-usage \
                      --no-first-run --remote-debugging-pipe --user-data-dir=\"$0\" \
                      --window-size=\"$1\" about:blank 3<&0 4>&1 </dev/null >/dev/null 2>&1";
        let mut process = Command::new("sh")
            .args(["-c", script])
            .arg(&profile)
            .arg(format!("{width},{height}"))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let commands = process.stdin.take().unwrap();
        let answers = BufReader::new(process.stdout.take().unwrap());
        let (session, complaints) = (Value::Null, Vec::new());
        let mut browser = Browser { process, commands, answers, session, id: 0, complaints };
        let target = browser.call("Target.createTarget", &json!({ "url": "about:blank" }));
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        browser.session = browser.call("Target.attachToTarget", &attach)["sessionId"].clone();
        for domain in ["Runtime.enable", "Log.enable", "Page.enable"] {
            browser.call(domain, &json!({}));
        }
        let size =
            json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        browser.call("Emulation.setDeviceMetricsOverride", &size);
        browser.call("Page.navigate", &json!({ "url": format!("file://{}", page.display()) }));
        browser.wait_for("Page.loadEventFired");
        browser
    }

    /// The value of an expression in the page; promises are awaited.
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let arguments = json!({
            "expression": expression, "returnByValue": true, "awaitPromise": true,
            "userGesture": true,
        });
        let result = self.call("Runtime.evaluate", &arguments);
        assert!(result.get("exceptionDetails").is_none(), "{expression}: {result}");
        result["result"]["value"].clone()
    }

    /// Presses a key.
    pub fn press(&mut self, key: &str) {
        let text = if key.chars().count() == 1 { key } else { "" };
        for kind in ["keyDown", "keyUp"] {
            let text = if kind == "keyDown" { text } else { "" };
            let arguments = json!({ "type": kind, "key": key, "text": text });
            self.call("Input.dispatchKeyEvent", &arguments);
        }
    }

    /// Makes the page light or dark, as the system would.
    pub fn prefer(&mut self, scheme: &str) {
        let feature = json!({ "name": "prefers-color-scheme", "value": scheme });
        self.call("Emulation.setEmulatedMedia", &json!({ "features": [feature] }));
    }

    /// A picture of the page as PNG, in base64.
    pub fn picture(&mut self) -> String {
        let picture = self.call("Page.captureScreenshot", &json!({ "format": "png" }));
        picture["data"].as_str().unwrap().to_owned()
    }

    /// What the page complained about so far.
    pub fn complaints(&self) -> &[String] {
        &self.complaints
    }

    /// Sends a command, and returns its result.
    pub fn call(&mut self, method: &str, parameters: &Value) -> Value {
        self.id += 1;
        let id = self.id;
        let mut command = json!({ "id": id, "method": method, "params": parameters });
        if !self.session.is_null() {
            command["sessionId"] = self.session.clone();
        }
        self.commands.write_all(command.to_string().as_bytes()).unwrap();
        self.commands.write_all(&[0]).unwrap();
        let mut answer = self.receive(|it| it["id"] == id);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].take()
    }

    fn wait_for(&mut self, event: &str) {
        self.receive(|it| it["method"] == event);
    }

    /// The first message that is wanted. Others are only looked at for complaints.
    fn receive(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        loop {
            let mut bytes = Vec::new();
            self.answers.read_until(0, &mut bytes).unwrap();
            assert_eq!(bytes.pop(), Some(0), "the browser has ended");
            let message: Value = serde_json::from_slice(&bytes).unwrap();
            let complaint = match message["method"].as_str() {
                Some("Runtime.exceptionThrown") => Some(&message["params"]["exceptionDetails"]),
                Some("Log.entryAdded") => Some(&message["params"]["entry"]),
                _ => None,
            };
            self.complaints.extend(complaint.map(Value::to_string));
            if wanted(&message) {
                return message;
            }
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
