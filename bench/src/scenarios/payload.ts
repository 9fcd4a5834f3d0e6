/** What each branch is sent, by a saga as by the relay. */
export const PAYLOAD = { account: 4711, amountCents: 1250 }
