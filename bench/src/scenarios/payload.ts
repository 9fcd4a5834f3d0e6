/** The payload of each branch, sent by a saga and by the relay alike. */
export const PAYLOAD = { account: 4711, amountCents: 1250 }
