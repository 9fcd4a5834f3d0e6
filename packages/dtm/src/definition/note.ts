/**
 * The note holds what the dialect must show again and no definition has. It is kept beside the definition, and only the
 * dialect reads it.
 */
import type { Definition } from '@counterstep/core'
import { writeGoJson } from '../go-json/write-go-json.ts'
import type { DtmRequest } from '../wire/read-request.ts'

export interface Note {
  /** Makes each accept's content one of its own, so that the engine tells a new gid from one that is there. */
  readonly ticket: string
  /** Digest of what was asked for, to know the same request again. */
  readonly request: string
  readonly options: string
  readonly protocol: string
  readonly queryPrepared: string
  readonly customData: string
  readonly retryIntervalS: number
  readonly waitResult: boolean
  readonly waitMs: number
  /** The branches of a TCC are posted with this content type. */
  readonly contentType: string
  /** The one branch that is there stands for none. */
  readonly isStepless: boolean
}

/** Short keys: it is stored with every transaction. What is usual is left out. */
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

/** Undefined: it was accepted by another face. */
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

/** Without reading the whole note, since it is asked before calls. A text within the note has its quotes escaped. */
export function isNoteOfProtocol({ note }: Definition, protocol: string): boolean {
  return note?.startsWith(DIALECT) === true && note.includes(`,"p":"${protocol}"`)
}

/** The options as DTM keeps and shows them: in the order of its struct, without what is zero, but for `concurrent`. */
export function optionsText(request: DtmRequest): string {
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
