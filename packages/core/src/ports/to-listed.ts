import type { ListedTransaction } from './store.ts'

/** Takes of a row what a list shows. */
export function toListed(row: ListedTransaction): ListedTransaction {
  const { gid, kind, status, createdAt, updatedAt, dueAt, epoch, retrying, attention } = row
  const { name, tags, problem, attempts, marks } = row
  return {
    ...{ gid, kind, status, createdAt, updatedAt, dueAt, epoch, retrying, attention },
    ...(name !== undefined && { name }),
    ...(tags !== undefined && { tags }),
    ...(problem !== undefined && { problem }),
    ...(attempts !== undefined && { attempts }),
    ...(marks !== undefined && { marks }),
  }
}
