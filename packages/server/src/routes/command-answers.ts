import type { TransactionView } from '@counterstep/protocol'
import type { Operation } from '../openapi/operation.ts'

/** A command is answered with the transaction, whose status tells whether it goes on. */
export function describeCommandAnswers(final: TransactionView, going: TransactionView): Operation['answers'] {
  return {
    200: {
      description: 'The command is durable, and the transaction is final.',
      schema: 'TransactionView',
      example: final,
    },
    202: {
      description: 'The command is durable, and the transaction goes on.',
      schema: 'TransactionView',
      example: going,
    },
  }
}
