/**
 * The note holds the parts of a request that the dialect must show again but that no definition has. It is stored with
 * the definition, and only the dialect reads it.
 */
import type { Definition } from '@counterstep/core'
import { writeGoJson } from '../go-json/write-go-json.ts'
import type { DtmRequest } from '../wire/read-request.ts'

export interface Note {
  /** Each request has a new random ticket in its content, so the engine can tell a new gid from one that is taken. */
  readonly ticket: string
  /** This digest of the request's content shows whether a later request is the same. */
  readonly request: string
  readonly options: string
  readonly protocol: string
  readonly queryPrepared: string
  readonly customData: string
  readonly retryIntervalS: number
  readonly waitResult: boolean
  readonly waitMs: number
  /** The branches of a TCC are called with this content type. */
  readonly contentType: string
  /** If it is true, the request had no steps, and the one branch of the definition is `NO_BRANCH`. */
  readonly isStepless: boolean
}

/** The keys are short and usual values are left out, because this is stored with every transaction. */
interface NoteRecord {
  readonly t: string
  readonly r: string
  readonly o: string
  readonly p?: string
  readonly q?: string
  readonly c?: string
  readonly i: number
  readonly w?: 1
  readonly m: number
  readonly h?: string
  readonly e?: 1
}

const DIALECT = 'dtm '

export function writeNote(note: Note): string {
  const record: NoteRecord = {
    t: note.ticket,
    r: note.request,
    o: note.options,
    ...(note.protocol === 'http' ? {} : { p: note.protocol }),
    ...(note.queryPrepared === '' ? {} : { q: note.queryPrepared }),
    ...(note.customData === '' ? {} : { c: note.customData }),
    i: note.retryIntervalS,
    ...(note.waitResult ? { w: 1 } : {}),
    m: note.waitMs,
    ...(note.contentType === JSON_TYPE ? {} : { h: note.contentType }),
    ...(note.isStepless ? { e: 1 } : {}),
  }
  return DIALECT + JSON.stringify(record)
}

const JSON_TYPE = 'application/json'

/** Returns undefined if the transaction came through another HTTP API. */
export function readNote({ note }: Definition): Note | undefined {
  if (note === undefined || !note.startsWith(DIALECT)) return undefined
  const record = JSON.parse(note.slice(DIALECT.length)) as NoteRecord
  return {
    ticket: record.t,
    request: record.r,
    options: record.o,
    protocol: record.p ?? 'http',
    queryPrepared: record.q ?? '',
    customData: record.c ?? '',
    retryIntervalS: record.i,
    waitResult: record.w === 1,
    waitMs: record.m,
    contentType: record.h ?? JSON_TYPE,
    isStepless: record.e === 1,
  }
}

/**
 * Tells whether a note has this protocol. It searches the text, since it runs before every call and parsing would cost
 * more. No other field can hold the searched text, because JSON escapes the quotes within a value.
 */
export function isNoteOfProtocol({ note }: Definition, protocol: string): boolean {
  return note?.startsWith(DIALECT) === true && note.includes(`,"p":"${protocol}"`)
}

/** Writes the options as DTM shows them: in the order of its struct, and without zero values except `concurrent`. */
export function writeOptions(request: DtmRequest): string {
  const { wait_result, timeout_to_fail, request_timeout, retry_interval, branch_headers } = request
  const headers = Object.entries(branch_headers).sort(([a], [b]) => (a < b ? -1 : 1))
  return writeGoJson({
    ...(wait_result ? { wait_result } : {}),
    ...(timeout_to_fail === 0 ? {} : { timeout_to_fail }),
    ...(request_timeout === 0 ? {} : { request_timeout }),
    ...(retry_interval === 0 ? {} : { retry_interval }),
    ...(headers.length === 0 ? {} : { branch_headers: Object.fromEntries(headers) }),
    concurrent: request.concurrent,
    ...(request.retry_limit === 0 ? {} : { retry_limit: request.retry_limit }),
  })
}
