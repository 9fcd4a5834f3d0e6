import type { BulkCommand } from '@counterstep/protocol'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { sessionQuery } from '../api/session.ts'
import { findMissingScope } from './allow-commands.ts'
import { BulkDialog } from './bulk-dialog.tsx'
import { BULK_WORDS, type BulkTarget } from './bulk-target.ts'

interface BulkButtonsProps {
  readonly commands: readonly BulkCommand[]
  readonly choice: BulkTarget['choice']
  /** The words for those that are chosen, for example `128` or `all that match`. */
  readonly what: string
  /** How many they are, if that is known. */
  readonly count?: number
}

/** The commands for many transactions at once. Each opens the dialog that says which they are. */
export function BulkButtons({ commands, choice, what, count }: BulkButtonsProps) {
  const [opened, open] = useState<BulkTarget>()
  const { data: session } = useQuery(sessionQuery)
  // A bulk job needs what the retry of a transaction needs, whatever its command.
  const refusal = count === 0 ? 'there is none' : findMissingScope('retry', session)
  return (
    <>
      {commands.map((command) => (
        <button
          key={command}
          type="button"
          className="small"
          disabled={refusal !== undefined}
          title={refusal}
          onClick={() => open({ command, choice, ...(count === undefined ? {} : { expected: count }) })}
        >
          {BULK_WORDS[command].verb} {what}…
        </button>
      ))}
      {opened === undefined ? null : <BulkDialog target={opened} onClose={() => open(undefined)} />}
    </>
  )
}
