// Loses a deposit: the balance of an account in a vector is read in one critical section and written in another.
// Finds: atomicity on Account[1].balance; panic

use std::{
    sync::{Arc, Mutex},
    thread,
};

struct Account {
    number: u32,
    balance: i64,
}

struct Bank {
    name: String,
    accounts: Vec<Account>,
}

impl Bank {
    fn balance(&self, at: usize) -> i64 {
        self.accounts[at].balance
    }

    fn set_balance(&mut self, at: usize, balance: i64) {
        self.accounts[at].balance = balance;
    }
}

fn deposit(bank: &Mutex<Bank>, amount: i64) {
    if cfg!(fixed) {
        let mut bank = bank.lock().unwrap();
        let balance = bank.balance(1);
        bank.set_balance(1, balance + amount);
        return;
    }
    let balance = bank.lock().unwrap().balance(1);
    bank.lock().unwrap().set_balance(1, balance + amount);
}

fn main() {
    let accounts = (0..3).map(|number| Account { number, balance: 100 }).collect();
    let bank = Arc::new(Mutex::new(Bank { name: "savings".to_owned(), accounts }));
    let shared = Arc::clone(&bank);
    let clerk = thread::spawn(move || deposit(&shared, 10));
    deposit(&bank, 20);
    clerk.join().unwrap();
    let bank = bank.lock().unwrap();
    let account = &bank.accounts[1];
    assert_eq!(account.balance, 130, "account {} of {}", account.number, bank.name);
}
