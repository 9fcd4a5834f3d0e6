import { BRANCHES_MAX } from '@counterstep/protocol'
import type { Faults } from './faults.ts'

/**
 * Reads the list of branches. The result is undefined when one of them
 * cannot be read, since positions would then be wrong.
 */
export function readList<Branch>(
  value: unknown,
  faults: Faults,
  parse: (branch: unknown, position: number) => Branch | undefined,
): readonly Branch[] | undefined {
  if (value === undefined) return faults.add('SAGA_NO_BRANCHES', '/branches', 'is required')
  if (!Array.isArray(value)) return faults.add('SAGA_INVALID', '/branches', 'must be a list')
  if (value.length === 0) return faults.add('SAGA_NO_BRANCHES', '/branches', 'must not be empty')
  if (value.length > BRANCHES_MAX) {
    return faults.add('SAGA_TOO_MANY_BRANCHES', '/branches', `must not be more than ${BRANCHES_MAX}`)
  }
  const parsed = value.flatMap((branch: unknown, position) => parse(branch, position) ?? [])
  return parsed.length === value.length ? parsed : undefined
}
