//! Two threads and two accounts. The household account is empty until the first transfer from the savings
//! account.

use exercises_harness::model::graph::Scenario;

use super::exercise::{Account, transfer};
use crate::sync::Arc;

pub fn scenario() -> Scenario {
    let accounts = || (Arc::new(Account::new(1, 100)), Arc::new(Account::new(2, 0)));
    let (savings, household) = accounts();
    let (to, from) = (Arc::clone(&household), Arc::clone(&savings));
    let pay = "transfer(savings, household, 10); transfer(savings, household, 10)";
    Scenario::new()
        .thread("payer", pay, move || {
            transfer(&from, &to, 10);
            transfer(&from, &to, 10);
        })
        .thread("saver", "transfer(household, savings, 10)", move || {
            transfer(&household, &savings, 10);
        })
}
