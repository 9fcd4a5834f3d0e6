import { branchIdAt } from './branch-id.ts'

/** Stands for the branches of a transaction without steps: called in no time, it lets the transaction end. */
export const NO_BRANCH = {
  id: branchIdAt(0),
  action: '',
  body: '',
  contentType: 'application/json',
  headers: {},
} as const
