import { isFinalStatus, type TransactionView } from '@counterstep/protocol'
import { useEffect } from 'react'
import type { CommandTarget } from '../../commands/command-target.ts'
import { isTyping } from '../../parts/is-typing.ts'
import { readPreferences } from '../../parts/preferences.ts'

/** `r` opens the dialog of a retry, which still asks before it gives one. */
export function useRetryKey(
  { gid, status }: TransactionView,
  onCommand: (target: CommandTarget) => void,
): void {
  const isEnded = isFinalStatus(status)
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.key !== 'r' || isEnded || isTyping(event) || !readPreferences().keys) return
      event.preventDefault()
      onCommand({ gid, command: 'retry' })
    }
    document.addEventListener('keydown', press)
    return () => document.removeEventListener('keydown', press)
  }, [gid, isEnded, onCommand])
}
