import { UnavailableError } from '../errors.ts'
import type { CallOptions } from '../options.ts'
import { isRecord } from '../problem-error.ts'
import { sendAgain } from '../send-again.ts'
import type { Setup } from '../setup.ts'

/** Says which view is asked for, and how its answer is told from that of another program. */
export interface Look {
  readonly path: string
  /** A view of ours has this property, which is a list or a text. */
  readonly property: string
  readonly gid?: string
}

/** Reads a view. */
export function look<View>(setup: Setup, asked: Look, options: CallOptions): Promise<View> {
  return ask(setup, { method: 'GET', path: asked.path }, asked, options)
}

/** Asks by POST for a view. It must be safe to repeat. */
export function lookByPost<View>(
  setup: Setup,
  asked: Look,
  body: string | undefined,
  options: CallOptions,
): Promise<View> {
  return ask(
    setup,
    { method: 'POST', path: asked.path, ...(body === undefined ? {} : { body }) },
    asked,
    options,
  )
}

interface Sent {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: string
}

function ask<View>(
  { send, serverCount, timeoutMs, retryForMs }: Setup,
  sent: Sent,
  { property, gid }: Look,
  { signal, ...options }: CallOptions,
): Promise<View> {
  const request = { ...sent, timeoutMs, signal, ...(gid === undefined ? {} : { gid }) }
  const persistence = { retryForMs: options.retryForMs ?? retryForMs, serverCount, signal }
  return sendAgain(async () => readView<View>(await send(request), property, gid), persistence)
}

/** Checks just enough to know that our server answered, and about no other transaction if the view names one. The rest of a view is the server's own contract. */
function readView<View>(value: unknown, property: string, gid?: string): View {
  const isAsked = isRecord(value) && (gid === undefined || (value.gid ?? gid) === gid)
  if (isAsked && (Array.isArray(value[property]) || typeof value[property] === 'string')) return value as View
  throw new UnavailableError('SAGA_UNREACHABLE', 'the answer was not the one that was asked for', { gid })
}
