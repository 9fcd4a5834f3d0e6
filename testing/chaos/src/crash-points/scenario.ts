import { setTimeout as sleep } from 'node:timers/promises'
import type { SagaBranchRequest, SagaSubmitRequest, WorkflowSubmitRequest } from '@counterstep/protocol'
import { withBranchSecrets } from '@counterstep/test-servers/with-secrets'
import type { ResumingClient } from './resuming-client.ts'
import type { TransferInput } from './workflow-handler.ts'

export const ACCOUNTS = 40
const AMOUNT_CENTS_MAX = 500
const WAIT_SECONDS = 5
/** Longer than a lease, so that it is renewed. */
const SLOW_MS = 350
const ABORT_AFTER_MS = 60
const DELAY_MS = 120
const APPROVED_AFTER_MS = 60
const WAIT_MS = 150
const REST_MS = 30
/** No recovery takes so long. */
const APPROVAL_MS_MAX = 60_000
const FEE_CENTS = 1
const GRANTED = { version: 1, grants: 8 }

export interface Participants {
  readonly bank: string
  /** The same bank as the client of a TCC calls it, over HTTP. */
  readonly tries: string
  /** The bank and the handler behind something that fails the first attempt of each call, after it was done. */
  readonly flaky: string
  /** Serves the workflows, over the bank's own file. */
  readonly handler: string
  /** Answers 200 to everything. */
  readonly yes: string
}

/** One transaction of each way to live and end, all at once, each with the status that it must end in. */
export class Scenario {
  readonly prefix: string
  readonly gids: readonly string[]
  readonly expected: ReadonlyMap<string, readonly string[]>
  readonly #scripts: readonly (() => Promise<void>)[]

  constructor(prefix: string, client: ResumingClient, participants: Participants) {
    this.prefix = prefix
    const cast = makeRoles(prefix, client, participants)
    this.gids = cast.map(({ gid }) => gid)
    this.expected = new Map(cast.map(({ gid, endsIn }) => [gid, endsIn]))
    this.#scripts = cast.map(({ play }) => play)
  }

  async play(): Promise<void> {
    await Promise.all(this.#scripts.map((script) => script()))
  }
}

interface Role {
  readonly gid: string
  readonly endsIn: readonly string[]
  readonly play: () => Promise<void>
}

const SUCCEEDED = ['succeeded']
const FAILED = ['failed']

function makeRoles(prefix: string, client: ResumingClient, participants: Participants): Role[] {
  const { bank, tries, flaky, yes } = participants
  const saga = (
    name: string,
    endsIn: readonly string[],
    request: SagaSubmitRequest,
    waitSeconds = 0,
  ): Role => {
    const gid = `${prefix}-${name}`
    return { gid, endsIn, play: () => client.submit({ ...request, gid }, waitSeconds) }
  }
  return [
    saga('happy', SUCCEEDED, { branches: transfer(bank) }, WAIT_SECONDS),
    saga('happy-again', SUCCEEDED, { branches: transfer(bank) }),
    saga('failing', FAILED, { branches: transfer(bank, 'frozen') }, WAIT_SECONDS),
    saga('failing-late', FAILED, { branches: [...transfer(bank), credit(bank, 1, 'frozen', 'third')] }),
    saga('strict', SUCCEEDED, { branches: transfer(bank), checkpointMs: 0 }),
    saga('strict-failing', FAILED, { branches: transfer(bank, 'frozen'), checkpointMs: 0 }),
    saga('retried', SUCCEEDED, { branches: transfer(flaky) }),
    saga('undo-retried', FAILED, {
      branches: [debit(flaky, cents(), account()), credit(bank, 1, 'frozen')],
    }),
    saga('values', SUCCEEDED, { branches: returned(bank) }, WAIT_SECONDS),
    saga('values-retried', SUCCEEDED, { branches: returned(flaky) }),
    saga('values-failing', FAILED, { branches: [...returned(bank), credit(bank, 1, 'frozen', 'third')] }),
    approved(prefix, client, bank, 'approved', { endsIn: SUCCEEDED, sentAfterMs: APPROVED_AFTER_MS }),
    approved(prefix, client, flaky, 'approved-early', { endsIn: SUCCEEDED, sentAfterMs: 0 }),
    approved(prefix, client, bank, 'approved-late', {
      // The signal and its timeout come at the same time.
      endsIn: [...SUCCEEDED, ...FAILED],
      sentAfterMs: WAIT_MS,
      timeoutMs: WAIT_MS,
    }),
    approved(prefix, client, bank, 'pivot-failing', { endsIn: FAILED, sentAfterMs: 0, to: 'frozen' }),
    saga('not-approved', FAILED, { branches: approvable(bank, { timeoutMs: WAIT_MS }) }),
    saga('delayed', SUCCEEDED, { branches: transfer(bank), delayMs: DELAY_MS }),
    saga('slow', SUCCEEDED, { branches: transfer(bank, account(), SLOW_MS) }, WAIT_SECONDS),
    aborted(prefix, client, bank),
    message(prefix, client, flaky),
    tcc(prefix, client, { bank, tries, yes }, 'submit'),
    tcc(prefix, client, { bank, tries, yes }, 'abort'),
    ...workflows(prefix, client, participants),
  ]
}

/** Each once with slots for steps within its plan calls, and once without. */
function workflows(
  prefix: string,
  client: ResumingClient,
  { bank, handler, flaky }: Participants,
): readonly Role[] {
  const strict = { checkpointMs: 0 }
  const make = (
    name: string,
    endsIn: readonly string[],
    input: Pick<TransferInput, 'ends' | 'goesOn' | 'slowMs'>,
    {
      at = handler,
      ...settings
    }: Pick<WorkflowSubmitRequest, 'version' | 'grants' | 'checkpointMs'> & { readonly at?: string },
  ): Role => {
    const gid = `${prefix}-${name}`
    const request = {
      kind: 'workflow',
      workflow: 'transfer',
      handler: `${at}/workflows`,
      gid,
      ...settings,
      input: {
        bank: at === handler ? bank : at,
        from: account(),
        to: account(),
        amountCents: cents(),
        ...input,
      },
    } as const
    return { gid, endsIn, play: () => client.submit(request, WAIT_SECONDS) }
  }
  const aborted = make(
    'workflow-aborted',
    [...FAILED, ...SUCCEEDED],
    { ends: 'plainly', slowMs: SLOW_MS },
    GRANTED,
  )
  return [
    make('workflow', SUCCEEDED, { ends: 'plainly' }, {}),
    make('workflow-granted', SUCCEEDED, { ends: 'plainly' }, GRANTED),
    make('workflow-retried', SUCCEEDED, { ends: 'plainly' }, { ...GRANTED, at: flaky }),
    make('workflow-detour', SUCCEEDED, { ends: 'detours' }, { ...GRANTED, ...strict }),
    make('workflow-detour-retried', SUCCEEDED, { ends: 'detours' }, { at: flaky }),
    make('workflow-refusing', FAILED, { ends: 'refuses' }, { ...GRANTED, ...strict }),
    make('workflow-refused', FAILED, { ends: 'is-refused' }, strict),
    make('workflow-continued', SUCCEEDED, { ends: 'detours', goesOn: 'plainly' }, GRANTED),
    make(
      'workflow-continued-refusing',
      FAILED,
      { ends: 'plainly', goesOn: 'refuses' },
      { ...GRANTED, at: flaky },
    ),
    make('workflow-refused-retried', FAILED, { ends: 'is-refused' }, { ...GRANTED, at: flaky }),
    {
      ...aborted,
      play: async () => {
        const playing = aborted.play()
        await sleep(ABORT_AFTER_MS)
        await client.send('POST', `/v1/transactions/${aborted.gid}/abort`)
        await playing
      },
    },
  ]
}

interface Approved {
  readonly endsIn: readonly string[]
  readonly sentAfterMs: number
  /** The account that the signal names, and the pivot credits. */
  readonly to?: string
  readonly timeoutMs?: number
}

function approved(
  prefix: string,
  client: ResumingClient,
  url: string,
  name: string,
  { endsIn, sentAfterMs, to = account(), timeoutMs = APPROVAL_MS_MAX }: Approved,
): Role {
  const gid = `${prefix}-${name}`
  const approval = { id: 'yes', payload: { account: to } }
  return {
    gid,
    endsIn,
    play: async () => {
      await client.submit({ gid, branches: approvable(url, { timeoutMs }) })
      await sleep(sentAfterMs)
      await Promise.all([client.signal(gid, 'approval', approval), client.signal(gid, 'approval', approval)])
    },
  }
}

/** A debit that may be undone until it is approved. The signal says who is credited, and then a fee is paid. */
function approvable(
  url: string,
  { timeoutMs }: { readonly timeoutMs: number },
): SagaSubmitRequest['branches'] {
  const amountCents = cents()
  const fee = { account: account(), amountCents: FEE_CENTS }
  return [
    debit(url, amountCents + FEE_CENTS, account()),
    { id: 'approval', wait: { signal: 'approval', timeoutMs } },
    { id: 'rest', wait: { ms: REST_MS } },
    {
      id: 'credit',
      action: `${url}/credit`,
      template: { account: { $from: 'approval', at: '/account' }, amountCents },
      role: 'pivot',
    },
    { id: 'fee', action: `${url}/credit`, payload: fee, role: 'retriable' },
  ]
}

function aborted(prefix: string, client: ResumingClient, bank: string): Role {
  const gid = `${prefix}-aborted`
  return {
    gid,
    // The abort may come too late.
    endsIn: ['failed', 'succeeded'],
    play: async () => {
      await client.submit({ gid, branches: transfer(bank, account(), SLOW_MS) })
      await sleep(ABORT_AFTER_MS)
      await client.send('POST', `/v1/transactions/${gid}/abort`)
    },
  }
}

function message(prefix: string, client: ResumingClient, bank: string): Role {
  const gid = `${prefix}-message`
  const payload = { account: account(), amountCents: cents() }
  const branches = [{ action: `${bank}/credit`, payload }]
  const check = { url: `${bank}/never-asked`, afterMs: 60_000 }
  return {
    gid,
    endsIn: SUCCEEDED,
    play: async () => {
      await client.submit({ kind: 'message', gid, branches, check })
      await client.send('POST', `/v1/transactions/${gid}/submit`)
    },
  }
}

/** The client tries; the orchestrator confirms or cancels. */
function tcc(
  prefix: string,
  client: ResumingClient,
  { bank, tries, yes }: Pick<Participants, 'bank' | 'tries' | 'yes'>,
  end: 'submit' | 'abort',
): Role {
  const gid = `${prefix}-tcc-${end}`
  const amountCents = cents()
  return {
    gid,
    endsIn: end === 'submit' ? SUCCEEDED : FAILED,
    play: async () => {
      await client.submit({ kind: 'tcc', gid })
      for (const what of ['debit', 'credit']) {
        const payload = { account: account(), amountCents }
        const branch = { id: what, confirm: yes, cancel: `${bank}/${what}-undo`, payload }
        await client.send('POST', `/v1/transactions/${gid}/branches`, withBranchSecrets(branch))
        await attempt(`${tries}/${what}?gid=${gid}&trans_type=tcc&branch_id=${what}&op=try`, payload)
      }
      await client.send('POST', `/v1/transactions/${gid}/${end}`)
    },
  }
}

async function attempt(url: string, payload: object): Promise<void> {
  const body = JSON.stringify(payload)
  const response = await fetch(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body })
  await response.arrayBuffer()
  if (response.status !== 200) throw new Error(`try at ${url} answered ${response.status}`)
}

function transfer(bank: string, to = account(), slowMs = 0): SagaBranchRequest[] {
  const amountCents = cents()
  return [debit(bank, amountCents, account(), slowMs), credit(bank, amountCents, to)]
}

/** A debit that is credited to the same account. Only the bank's answer says which account that is. */
function returned(bank: string): SagaBranchRequest[] {
  const amountCents = cents()
  const from = account()
  const debited = { $from: 'debit', at: '/account' }
  const undone = { account: { ...debited, else: from }, amountCents }
  return [
    {
      id: 'debit',
      action: `${bank}/debit`,
      payload: { account: from, amountCents },
      compensation: { url: `${bank}/debit-undo`, template: undone },
    },
    {
      id: 'credit',
      action: `${bank}/credit`,
      template: { account: debited, amountCents },
      compensation: { url: `${bank}/credit-undo`, template: undone },
    },
  ]
}

function debit(bank: string, amountCents: number, from: string, slowMs = 0): SagaBranchRequest {
  const payload = { account: from, amountCents, slowMs }
  return { id: 'debit', action: `${bank}/debit`, compensation: `${bank}/debit-undo`, payload }
}

function credit(bank: string, amountCents: number, to: string, id = 'credit'): SagaBranchRequest {
  const payload = { account: to, amountCents }
  return { id, action: `${bank}/credit`, compensation: `${bank}/credit-undo`, payload }
}

/** Which account and how much is no matter: the audit only adds up. */
function account(): string {
  return `account-${1 + Math.floor(Math.random() * ACCOUNTS)}`
}

function cents(): number {
  return 1 + Math.floor(Math.random() * AMOUNT_CENTS_MAX)
}
