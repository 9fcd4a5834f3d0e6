import { command } from '../command.ts'
import { newGid } from '../gid.ts'
import type { CallOptions } from '../options.ts'
import type { Setup } from '../setup.ts'
import { submit } from '../submit.ts'
import { submitPrepared } from '../submit-prepared.ts'
import { doAndSubmit } from './do-and-submit.ts'
import type { Message, MessageSettings, TwoPhaseMessage, TwoPhaseMessageSettings } from './message-types.ts'

export function message(setup: Setup, settings: TwoPhaseMessageSettings): TwoPhaseMessage
export function message(setup: Setup, settings: MessageSettings): Message
export function message(
  setup: Setup,
  settings: MessageSettings | TwoPhaseMessageSettings,
): Message | TwoPhaseMessage {
  const gid = settings.gid ?? newGid()
  const { check, ...plain } = settings
  if (check === undefined) {
    const request = { ...plain, gid, kind: 'message' } as const
    return { gid, request, submit: (options = {}) => submit(setup, request, options) }
  }
  const request = { ...plain, check, gid, kind: 'message' } as const
  const prepare = (options: CallOptions = {}) => submit(setup, request, options)
  return {
    gid,
    request,
    prepare,
    submit: async ({ waitMs = 0, ...options } = {}) => {
      await prepare(options)
      return submitPrepared(setup, gid, { ...options, waitMs })
    },
    abort: (options = {}) => command(setup, 'abort', gid, options),
    doAndSubmit: (barrier, effect, options = {}) =>
      doAndSubmit(setup, { gid, prepare }, { barrier, effect }, options),
  }
}
