import { type CommandRefusal, findRefusal } from '../src/commands/refuse-command.ts'
import type { Command } from '../src/rules/events.ts'
import type { Transaction } from '../src/transaction.ts'
import { CREATED_AT } from './sagas.ts'

/** Returns why the command is refused at the accept, or undefined if it is not. */
export function refuse(transaction: Transaction, command: Command): CommandRefusal | undefined {
  return findRefusal(transaction, command, CREATED_AT)
}
