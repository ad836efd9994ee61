//! Wrong: the giver's lock is taken first, so two opposite transfers take the two locks in different orders.

use crate::sync::Mutex;

pub struct Account {
    balance: Mutex<u32>,
}

impl Account {
    // The mistake: the moment at which the account was opened is not used.
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
