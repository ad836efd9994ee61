//! Wrong: the lock of the giver is taken first. Two transfers in opposite directions take the two locks in different orders.

use crate::sync::Mutex;

pub struct Account {
    balance: Mutex<u32>,
}

impl Account {
    // When it was opened is not looked at, and that is the mistake.
    pub fn new(_opened: u32, balance: u32) -> Self {
        Self { balance: Mutex::new(balance) }
    }
}

pub fn transfer(from: &Account, to: &Account, amount: u32) {
    let mut from = from.balance.lock().unwrap();
    if *from < amount {
        return;
    }
    let mut to = to.balance.lock().unwrap();
    *from -= amount;
    *to += amount;
}
