import { BULK_COMMANDS, BULK_NAMED_MAX, type BulkCommand } from '@counterstep/protocol'
import { type BulkOptions, isUnavailable } from '@counterstep/sdk/operator'
import { cleanJson, cleanLine } from '../print/clean-text.ts'
import { writeBulk, writeBulkList, writeBulkPreview } from '../print/write-bulk.ts'
import { askWhether } from './agree.ts'
import type { OperatorContext } from './operator-context.ts'
import { NotGivenError } from './operator-errors.ts'
import { printRows } from './print-rows.ts'
import { dropUndefined, readFilter, readValue } from './read-values.ts'

export async function runBulkPreview(context: OperatorContext): Promise<void> {
  const { line, operator, print, signal } = context
  const preview = await operator.bulk.preview(await readOrder(context, 'preview'), { signal })
  if (line.output === 'json') print(cleanJson(preview, 2))
  else for (const text of writeBulkPreview(preview, operator.now())) print(text)
}

export async function runBulkStart(context: OperatorContext): Promise<void> {
  const { line, operator, print, say, signal } = context
  const order = await readOrder(context, readValue(line, 'reason') ?? '')
  let previewed: string | undefined
  await askWhether(context, async () => {
    const preview = await operator.bulk.preview(order, { signal })
    for (const text of writeBulkPreview(preview, operator.now())) say(text)
    previewed = preview.previewed
    if (preview.count === 0) throw new NotGivenError('Nothing matches, so nothing was done.')
    return `Start to ${order.command} ${preview.count} transaction(s)?`
  })
  try {
    const job = await operator.bulk.start({ ...order, ...dropUndefined({ previewed }) }, { signal })
    if (line.output === 'json') print(cleanJson(job, 2))
    else for (const text of writeBulk(job, operator.now())) print(text)
    say(`What comes of it shows counterstep bulk show ${cleanLine(job.id)}`)
  } catch (error: unknown) {
    if (isUnavailable(error)) say('It is not known whether the job was started: see counterstep bulk list')
    throw error
  }
}

export async function runBulkList(context: OperatorContext): Promise<void> {
  const { line, operator, print, signal } = context
  const view = await operator.bulk.list({ signal })
  if (line.output !== 'table') printRows(context, view.items, view)
  else for (const text of writeBulkList(view, operator.now())) print(text)
}

export async function runBulkShow({ line, operator, print, signal }: OperatorContext): Promise<void> {
  const job = await operator.bulk.show(line.places[0] ?? '', { signal })
  if (line.output === 'json') print(cleanJson(job, 2))
  else for (const text of writeBulk(job, operator.now())) print(text)
}

/** Gives the job itself a command: pause, resume or cancel. */
export async function runBulkCommand({ line, operator, print, signal }: OperatorContext): Promise<void> {
  const id = line.places[0] ?? ''
  const { pause, resume, cancel } = operator.bulk
  const verbs = { 'bulk pause': pause, 'bulk resume': resume, 'bulk cancel': cancel }
  const job = await verbs[line.command as keyof typeof verbs](id, { signal })
  if (line.output === 'json') print(cleanJson(job, 2))
  else for (const text of writeBulk(job, operator.now())) print(text)
}

async function readOrder(context: OperatorContext, reason: string): Promise<BulkOptions> {
  const { line, operator } = context
  const filter = readFilter(line, operator.now())
  const gids = await readGids(context)
  const hasFilter = Object.keys(filter).length > 0
  if (hasFilter === (gids !== undefined))
    throw new NotGivenError(`${line.command} needs either --gids or a filter, such as --problem or --status.`)
  const number = (name: 'rate' | 'canary' | 'max') => {
    const text = readValue(line, name)
    return text === undefined ? undefined : Number(text)
  }
  return {
    command: readBulkCommand(line.places[0]),
    reason,
    ...(gids === undefined ? { filter } : { gids }),
    ...dropUndefined({ ratePerSecond: number('rate'), canary: number('canary'), max: number('max') }),
  }
}

function readBulkCommand(word: string | undefined): BulkCommand {
  const command = BULK_COMMANDS.find((each) => each === word)
  if (command === undefined)
    throw new NotGivenError(`The COMMAND must be one of ${BULK_COMMANDS.join(', ')}.`)
  return command
}

async function readGids({ line, readFile }: OperatorContext): Promise<readonly string[] | undefined> {
  const path = readValue(line, 'gids')
  if (path === undefined) return undefined
  const gids = [...new Set((await readFile(path)).split('\n').map((each) => each.trim()))].filter(Boolean)
  if (gids.length === 0) throw new NotGivenError('--gids names none, so nothing was done.')
  if (gids.length > BULK_NAMED_MAX)
    throw new NotGivenError(
      `--gids names ${gids.length}, and takes ${BULK_NAMED_MAX}: use a filter for more.`,
    )
  return gids
}
