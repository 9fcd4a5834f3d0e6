/**
 * Builds the body of a submit that would make the same transaction anew. What the first submit left out stands in it with its
 * default, and what it had from its input stands in it as a value.
 */
import { type JsonValue, toExactPayload } from '@counterstep/protocol'
import type {
  BranchTarget,
  JsonTemplate,
  MessageDefinition,
  RecordedDefinition,
  RequestTemplate,
  SagaBranch,
  SagaDefinition,
  ValueReference,
  Wait,
  WorkflowDefinition,
} from '../definition.ts'
import type { Transaction } from '../transaction.ts'

type Json = Record<string, JsonValue>
type Content = Pick<BranchTarget, 'body' | 'contentType' | 'headers'> & {
  readonly template?: RequestTemplate | undefined
}

/** A TCC and XA get their branches after their submit, so they do not stand in it. */
export function toSubmitRequest({ definition }: Transaction): JsonValue {
  const { kind, retry, timeoutMs, checkpointMs } = definition
  const common: Json = { kind, retry: { ...retry }, timeoutMs, checkpointMs }
  switch (definition.kind) {
    case 'saga':
      return { ...common, ...toSagaFields(definition) }
    case 'tcc':
    case 'xa':
      return { ...common, deadlineMs: definition.deadlineMs, headers: { ...definition.headers } }
    case 'message':
      return { ...common, ...toMessageFields(definition) }
    case 'workflow':
      return { ...common, ...toWorkflowFields(definition) }
    case 'recorded':
      return { ...common, ...toRecordedFields(definition) }
  }
}

function toSagaFields(saga: SagaDefinition): Json {
  const { deadlineMs, delayMs, values } = saga
  return {
    ...optional({ deadlineMs, delayMs }),
    ...(values?.output === undefined ? {} : { output: toTemplate(saga, values.output) }),
    branches: saga.branches.map((branch) => toSagaBranch(saga, branch)),
  }
}

function toSagaBranch(saga: SagaDefinition, branch: SagaBranch): Json {
  const { id, role, wait, compensation, compensationContent: own, actionTemplate } = branch
  const after = branch.after.map((position) => saga.branches[position]?.id ?? '')
  if (wait !== undefined) return { id, after, wait: toWait(saga, wait) }
  const undo =
    own === undefined
      ? compensation
      : { ...toUrl(saga, compensation ?? '', own.template, true), ...toContent(saga, own) }
  return {
    id,
    after,
    ...optional({ role }),
    action:
      actionTemplate?.url === undefined ? branch.action : toUrl(saga, branch.action, actionTemplate, true),
    ...(undo === undefined ? {} : { compensation: undo }),
    ...toContent(saga, { ...branch, template: actionTemplate }),
    ...toLimits(branch),
  }
}

function toWorkflowFields({
  workflow,
  handler,
  input,
  version,
  grants = 0,
  headers,
  deadlineMs,
  delayMs,
}: WorkflowDefinition): Json {
  const given = { ...optional({ version, deadlineMs, delayMs }), headers: { ...headers } }
  return { workflow, handler, input: JSON.parse(input) as JsonValue, grants, ...given }
}

/** Only DTM's API accepts it, so this is what was submitted in our own words. */
function toRecordedFields({ workflow, callback }: RecordedDefinition): Json {
  const { url, headers } = callback
  return {
    workflow,
    callback: { url, ...toPlainContent(callback.body, callback.contentType), headers: { ...headers } },
  }
}

function toMessageFields({ branches, concurrent, delayMs, check }: MessageDefinition): Json {
  return {
    concurrent,
    ...optional({ delayMs }),
    ...(check === undefined ? {} : { check: { ...check, headers: { ...check.headers } } }),
    branches: branches.map((branch) => ({
      id: branch.id,
      action: branch.action,
      ...toContent(undefined, branch),
      ...toLimits(branch),
    })),
  }
}

function toLimits({ retry, timeoutMs }: BranchTarget): Json {
  return { ...(retry === undefined ? {} : { retry: { ...retry } }), ...optional({ timeoutMs }) }
}

function toUrl(
  saga: SagaDefinition,
  url: string,
  template: RequestTemplate | undefined,
  isObject: boolean,
): Json {
  const places = Object.entries(template?.url ?? {})
  if (places.length === 0 && isObject) return { url }
  return { url, with: Object.fromEntries(places.map(([name, value]) => [name, toReference(saga, value)])) }
}

function toContent(
  saga: SagaDefinition | undefined,
  { body, contentType, headers, template }: Content,
): Json {
  const open = Object.entries(template?.headers ?? {}).map(
    ([name, value]) => [name, saga === undefined ? '' : toReference(saga, value)] as const,
  )
  const all: Json = { ...headers, ...Object.fromEntries(open) }
  const content =
    template?.body === undefined || saga === undefined
      ? toPlainContent(body, contentType)
      : { template: toTemplate(saga, template.body) }
  return { ...content, ...(Object.keys(all).length === 0 ? {} : { headers: all }) }
}

/** A body that would not come out the same from a payload is given as it is. */
function toPlainContent(body: string, contentType: string): Json {
  const payload = contentType === 'application/json' ? toExactPayload(body) : undefined
  return payload === undefined ? { body, contentType } : { payload }
}

function toWait(saga: SagaDefinition, wait: Wait): JsonValue {
  if (wait.type === 'signal') {
    const { name, timeoutMs, onTimeout } = wait
    return { signal: name, onTimeout, ...optional({ timeoutMs }) }
  }
  const time = wait.type === 'ms' ? wait.ms : wait.until
  return { [wait.type]: typeof time === 'number' ? time : toReference(saga, time) }
}

function toReference(
  { branches, values }: SagaDefinition,
  { from, value, else: other }: ValueReference,
): Json {
  return {
    $from: branches[from]?.id ?? '',
    at: values?.kept[from]?.[value] ?? '',
    ...(other === undefined ? {} : { else: JSON.parse(other) as JsonValue }),
  }
}

/** No JSON text of a client has this mark outside of an escape, so no string is taken for a reference. */
const MARK = '\u0000reference '

function toTemplate(saga: SagaDefinition, template: JsonTemplate): JsonValue {
  const references = template.filter((piece) => typeof piece !== 'string')
  let next = 0
  const text = template.map((piece) =>
    typeof piece === 'string' ? piece : JSON.stringify(`${MARK}${next++}`),
  )
  return placeReferences(JSON.parse(text.join('')) as JsonValue, (position) => {
    const reference = references[position]
    return reference === undefined ? null : toReference(saga, reference)
  })
}

function placeReferences(value: JsonValue, find: (position: number) => JsonValue): JsonValue {
  if (typeof value === 'string')
    return value.startsWith(MARK) ? find(Number(value.slice(MARK.length))) : value
  if (Array.isArray(value)) return value.map((each: JsonValue) => placeReferences(each, find))
  if (typeof value !== 'object' || value === null) return value
  // Only a literal can have such a name, and it has no reference inside.
  if (Object.keys(value).some((name) => name.startsWith('$'))) return { $literal: value }
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, placeReferences(each, find)]))
}

function optional(fields: Readonly<Record<string, string | number | undefined>>): Json {
  const there = Object.entries(fields).filter(
    (field): field is [string, string | number] => field[1] !== undefined,
  )
  return Object.fromEntries(there)
}
