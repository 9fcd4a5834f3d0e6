import type { CallKey } from '../rules/events.ts'
import { CHECK, PLAN } from '../rules/op-progress.ts'
import type { Transaction } from '../transaction.ts'

/** Finds the URL of a call as it was submitted. Undefined or empty: nothing is called. */
export function findUrl(transaction: Transaction, { branch, op }: CallKey): string | undefined {
  switch (transaction.kind) {
    case 'saga': {
      const { action, compensation } = transaction.definition.branches[branch] ?? {}
      return op === 'compensate' ? compensation : action
    }
    case 'tcc': {
      const { confirm, cancel } = transaction.registered[branch] ?? {}
      return op === 'cancel' ? cancel : confirm
    }
    case 'xa':
      return transaction.registered[branch]?.url
    case 'message': {
      const { check, branches } = transaction.definition
      return branch === CHECK ? check?.url : branches[branch]?.action
    }
    case 'recorded':
      return transaction.definition.callback.url
    case 'workflow': {
      if (branch === PLAN) return transaction.definition.handler
      const { action, compensation } = transaction.steps[branch]?.branch ?? {}
      return op === 'compensate' ? compensation : action
    }
  }
}
