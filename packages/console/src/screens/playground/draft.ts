import { findJsonFault, type JsonValue, OPEN_KINDS, type OpenKind } from '@counterstep/protocol'

/** A submit as it is being written. What the form does not know stays as it is. */
export type Draft = Readonly<Record<string, JsonValue>>
export type DraftBranch = Readonly<Record<string, JsonValue>>

const PORT = 8470
const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]'])

/** The transfer of `npm start`, whose banks have the two ports after the server's, so that the first try has services to call. */
export function createFirstDraft(host: string, port: number): Draft {
  const first = LOOPBACK.has(host) && port > 0 ? port : PORT
  const [debit, credit] = [`http://127.0.0.1:${first + 1}/debit`, `http://127.0.0.1:${first + 2}/credit`]
  return {
    name: 'transfer',
    branches: [
      {
        id: 'debit',
        action: debit,
        compensation: `${debit}-undo`,
        payload: { account: 'alice', amountCents: 100 },
      },
      {
        id: 'credit',
        action: credit,
        compensation: `${credit}-undo`,
        payload: { account: 'bob', amountCents: 100 },
      },
    ],
  }
}

/** The fields of a branch that hold URLs, in the order in which they are called. */
export const URL_FIELDS: Readonly<Record<OpenKind, readonly string[]>> = {
  saga: ['action', 'compensation'],
  tcc: ['confirm', 'cancel'],
  message: ['action'],
}

export function readKind(draft: Draft): OpenKind {
  return OPEN_KINDS.find((kind) => kind === draft.kind) ?? 'saga'
}

export function changeKind(draft: Draft, kind: OpenKind): Draft {
  const { kind: _before, ...others } = draft
  const urls = new Set(URL_FIELDS[kind])
  const strange = Object.values(URL_FIELDS)
    .flat()
    .filter((name) => !urls.has(name))
  const branches = listBranches(draft).map((branch) =>
    Object.fromEntries(Object.entries(branch).filter(([name]) => !strange.includes(name))),
  )
  return { ...(kind === 'saga' ? {} : { kind }), ...others, branches }
}

export function listBranches({ branches }: Draft): readonly DraftBranch[] {
  return Array.isArray(branches) ? branches.filter(isRecord) : []
}

export function changeBranch(draft: Draft, index: number, branch: DraftBranch): Draft {
  return { ...draft, branches: listBranches(draft).map((each, at) => (at === index ? branch : each)) }
}

export function addBranch(draft: Draft): Draft {
  const branches = listBranches(draft)
  return { ...draft, branches: [...branches, { id: `branch-${branches.length + 1}` }] }
}

export function removeBranch(draft: Draft, index: number): Draft {
  return { ...draft, branches: listBranches(draft).filter((_each, at) => at !== index) }
}

/** Sets a field, or drops it where the text is empty. */
export function setField<Fields extends Draft>(
  fields: Fields,
  name: string,
  value: JsonValue | undefined,
): Draft {
  const { [name]: _before, ...others } = fields
  return value === undefined || value === '' ? others : { ...fields, [name]: value }
}

export interface ReadDraft {
  readonly draft?: Draft
  readonly fault?: string
}

export function readDraft(text: string): ReadDraft {
  try {
    const value: JsonValue = JSON.parse(text)
    if (!isRecord(value)) return { fault: 'It must be a JSON object.' }
    const fault = findJsonFault(text)
    return fault === undefined ? { draft: value } : { fault: `${fault.path}: ${fault.message}` }
  } catch (error: unknown) {
    return { fault: error instanceof Error ? error.message : 'It is no JSON.' }
  }
}

export function writeDraft(draft: Draft): string {
  return JSON.stringify(draft, null, 2)
}

function isRecord(value: JsonValue | undefined): value is Draft {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
