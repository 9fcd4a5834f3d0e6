import type { TccSubmitRequest } from '@counterstep/protocol'
import { command } from '../command.ts'
import { newGid } from '../gid.ts'
import type { Setup } from '../setup.ts'
import { submit } from '../submit.ts'
import { submitPrepared } from '../submit-prepared.ts'
import { type OpenTries, openTries } from './open-tries.ts'
import { tccScope } from './tcc-scope.ts'
import type { Tcc, TccScope, TccSettings } from './tcc-types.ts'

/** A TCC before anything of it is sent. */
export interface OpenTcc {
  readonly request: TccSubmitRequest & { readonly gid: string }
  readonly scope: TccScope
  readonly tries: OpenTries
}

export function openTcc(setup: Setup, settings: TccSettings): OpenTcc {
  const gid = settings.gid ?? newGid()
  const tries = openTries()
  const { register, try: tryBranch } = tccScope(setup, { ...settings, gid, parentId: '' })
  return {
    request: { ...settings, gid, kind: 'tcc' },
    scope: { gid, register, try: (branch, options) => tries.follow(tryBranch(branch, options)) },
    tries,
  }
}

export function tcc(setup: Setup, settings: TccSettings): Tcc {
  const { request, scope, tries } = openTcc(setup, settings)
  return {
    ...scope,
    request,
    prepare: (options = {}) => submit(setup, request, options),
    submit: async (options = {}) => {
      await tries.ended()
      return submitPrepared(setup, scope.gid, options)
    },
    abort: (options = {}) => command(setup, 'abort', scope.gid, options),
  }
}
