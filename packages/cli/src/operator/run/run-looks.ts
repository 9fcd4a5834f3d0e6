import { LIST_LIMIT_MAX, type TransactionSummary } from '@counterstep/protocol'
import { cleanJson, cleanLine } from '../print/clean-text.ts'
import { formatInstant } from '../print/instants.ts'
import { writeList } from '../print/write-list.ts'
import { writeRequest } from '../print/write-request.ts'
import { writeChange, writeTransaction } from '../print/write-transaction.ts'
import type { OperatorContext } from './operator-context.ts'
import { printRows } from './print-rows.ts'
import { readFilter, readValue } from './read-values.ts'

const LISTED_DEFAULT = 50

export async function runList(context: OperatorContext): Promise<void> {
  const { line, operator, print, say, signal } = context
  const wanted = Number(readValue(line, 'limit') ?? LISTED_DEFAULT)
  const filter = readFilter(line, operator.now())
  const rows: TransactionSummary[] = []
  let searchedTo: number | undefined
  let cursor: string | undefined
  do {
    const limit = Math.min(LIST_LIMIT_MAX, wanted - rows.length)
    const page = await operator.page(
      { ...filter, limit, ...(cursor === undefined ? {} : { cursor }) },
      { signal },
    )
    rows.push(...page.items)
    ;({ cursor, searchedTo } = page)
  } while (cursor !== undefined && rows.length < wanted)
  switch (line.output) {
    case 'gids':
      for (const { gid } of rows) print(cleanLine(gid))
      break
    case 'table':
      if (rows.length === 0) say('Nothing matches.')
      else for (const text of writeList(rows, operator.now())) print(text)
      break
    default:
      printRows(context, rows, { items: rows })
  }
  if (cursor === undefined) return
  const reached = searchedTo === undefined ? '' : `, searched back to ${formatInstant(searchedTo)}`
  say(`There may be more than these ${rows.length}${reached}; see --limit.`)
}

export async function runShow({ line, operator, print, width, signal }: OperatorContext): Promise<void> {
  const [gid = ''] = line.places
  const view = await operator.show(gid, { signal })
  if (line.output === 'json') print(cleanJson(view, 2))
  else for (const text of writeTransaction(view, operator.now(), width)) print(text)
}

export async function runWatch({ line, operator, print, width, signal }: OperatorContext): Promise<void> {
  const [gid = ''] = line.places
  let isFirst = true
  for await (const view of operator.watch(gid, { signal })) {
    if (line.output !== 'table') {
      print(cleanJson(view, line.output === 'json' ? 2 : 0))
      continue
    }
    if (isFirst) for (const text of writeTransaction(view, operator.now(), width)) print(text)
    print(`${isFirst ? '\n' : ''}${writeChange(view, operator.now())}`)
    isFirst = false
  }
}

export async function runRequest({ line, operator, print, signal }: OperatorContext): Promise<void> {
  const [gid = ''] = line.places
  const view = await operator.request(gid, { signal })
  if (line.output === 'json') print(cleanJson(view, 2))
  else for (const text of writeRequest(view)) print(text)
}
