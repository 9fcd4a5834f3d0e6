import { buildBranchId } from './branch-id.ts'

/** This branch stands in a transaction without steps. Its URL is empty, so no call is made and the transaction ends. */
export const NO_BRANCH = {
  id: buildBranchId(0),
  action: '',
  body: '',
  contentType: 'application/json',
  headers: {},
} as const
