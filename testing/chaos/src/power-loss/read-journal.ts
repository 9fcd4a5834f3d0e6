import { readFileSync } from 'node:fs'

/** The order is that of record-writes.c. */
const TYPES = [
  undefined,
  'write',
  'truncate',
  'sync-begin',
  'sync-end',
  'create',
  'rename',
  'unlink',
  'mkdir',
  'mapped',
  'content',
  'unsupported',
  'sync-failed',
] as const
const MAGIC = 0x31534f4e
const HEAD_BYTES = 32

export interface Note {
  readonly type: NonNullable<(typeof TYPES)[number]>
  readonly path: string
  /** The target of a rename. */
  readonly other: string
  /** An offset, a length, or which sync it is. */
  readonly number: bigint
  readonly data: Buffer
  /** The place in the journal at which it ends. */
  readonly endsAt: number
}

/**
 * Reads the notes in the order in which they were made. The last one may be cut short by SIGKILL, and then never
 * happened.
 */
export function readJournal(file: string): Note[] {
  const bytes = readFileSync(file)
  const notes: Note[] = []
  for (let at = 0; at + HEAD_BYTES <= bytes.length; ) {
    const note = noteAt(bytes, at)
    if (note === undefined) break
    notes.push(note)
    at = note.endsAt
  }
  return notes
}

function noteAt(bytes: Buffer, at: number): Note | undefined {
  if (bytes.readUInt32LE(at) !== MAGIC) throw new Error(`no note at byte ${at} of the journal`)
  const type = TYPES[bytes.readUInt32LE(at + 4)]
  if (type === undefined) throw new Error(`an unknown note at byte ${at} of the journal`)
  const pathEnd = at + HEAD_BYTES + bytes.readUInt32LE(at + 8)
  const otherEnd = pathEnd + bytes.readUInt32LE(at + 12)
  const endsAt = otherEnd + Number(bytes.readBigUInt64LE(at + 24))
  if (endsAt > bytes.length) return undefined
  return {
    type,
    path: bytes.toString('utf8', at + HEAD_BYTES, pathEnd),
    other: bytes.toString('utf8', pathEnd, otherEnd),
    number: bytes.readBigUInt64LE(at + 16),
    data: bytes.subarray(otherEnd, endsAt),
    endsAt,
  }
}
