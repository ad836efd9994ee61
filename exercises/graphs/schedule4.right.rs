//! Right: a transfer always takes the lock of the older account first.

use crate::sync::Mutex;

pub struct Account {
    opened: u32,
    balance: Mutex<u32>,
}

impl Account {
    pub fn new(opened: u32, balance: u32) -> Self {
        Self { opened, balance: Mutex::new(balance) }
    }
}

pub fn transfer(from: &Account, to: &Account, amount: u32) {
    let (mut giver, mut taker);
    if from.opened < to.opened {
        giver = from.balance.lock().unwrap();
        taker = to.balance.lock().unwrap();
    } else {
        taker = to.balance.lock().unwrap();
        giver = from.balance.lock().unwrap();
    }
    if *giver < amount {
        return;
    }
    *giver -= amount;
    *taker += amount;
}
