/** Draws the values that the branches of a saga use of each other's answers: in bodies, in URLs and in headers. */
import type { RequestTemplate, SagaBranch, SagaDefinition, SagaOp, ValueReference } from '@counterstep/core'
import type { Random } from '../world/random.ts'

/** The pointer of the one value that is kept of an answer. */
const POINTER = '/id'
/** So many copies of one huge value are over the bound of a body. */
const COPIES = 30

export interface ValuesPlan {
  readonly branches: readonly SagaBranch[]
  readonly values: NonNullable<SagaDefinition['values']>
}

interface DrawnRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly template: RequestTemplate
}

/** Lets actions use values of the branches before them, and compensations also those of their own actions. */
export function drawValues(
  random: Random,
  gid: string,
  branches: readonly SagaBranch[],
  successors: readonly (readonly number[])[],
): ValuesPlan {
  const kept: string[][] = branches.map(() => [])
  const copies = random.chance(0.15) ? COPIES : 1
  const drawRequest = (branch: number, from: readonly number[], op: SagaOp): DrawnRequest => {
    const draw = (share: number, elses: readonly (string | undefined)[]): ValueReference[] =>
      from
        .filter((producer) => hasAnswer(branches[producer]) && random.chance(share))
        .map((producer) => {
          kept[producer] = [POINTER]
          const otherwise = elses[random.between(0, elses.length - 1)]
          return toReference(
            producer,
            mayLackAnswer(branches[producer]) ? (otherwise ?? '"none"') : otherwise,
          )
        })
    const body = draw(0.6, [undefined, 'null', '"none"'])
    const url = draw(0.25, op === 'action' ? [undefined, '"none"'] : ['"none"'])
    const headers = draw(0.25, op === 'action' ? [undefined, '"none"'] : [undefined, 'null', '"none"'])
    return toRequest(`${gid}/${branch}`, op, copyFirst(body, copies), url, headers)
  }
  const drawn = branches.map((target, branch) => {
    if (target.wait !== undefined) return target
    const before = branches.map((_, other) => other).filter((other) => successors[other]?.includes(branch))
    const { url, headers, template } = drawRequest(branch, before, 'action')
    const forward = { ...target, action: url, headers, actionTemplate: template }
    if (target.compensation === undefined) return forward
    const undo = drawRequest(branch, [...before, branch], 'compensate')
    const { contentType } = target
    return {
      ...forward,
      compensation: undo.url,
      compensationContent: { body: '', contentType, headers: undo.headers, template: undo.template },
    }
  })
  return { branches: drawn, values: { kept } }
}

/** A timer has no answer. */
function hasAnswer(producer: SagaBranch | undefined): boolean {
  return producer?.wait === undefined || producer.wait.type === 'signal'
}

/** A wait that goes on without its signal has no answer then, so its references need an else. */
function mayLackAnswer(producer: SagaBranch | undefined): boolean {
  return producer?.wait?.type === 'signal' && producer.wait.onTimeout === 'continue'
}

function toReference(from: number, otherwise: string | undefined): ValueReference {
  return otherwise === undefined ? { from, value: 0 } : { from, value: 0, else: otherwise }
}

function copyFirst([first, ...others]: readonly ValueReference[], copies: number): readonly ValueReference[] {
  return first === undefined ? [] : [...Array.from({ length: copies }, () => first), ...others]
}

/** The first value of a URL stands in its path, and each other one in its query. */
function toRequest(
  of: string,
  op: SagaOp,
  inBody: readonly ValueReference[],
  inUrl: readonly ValueReference[],
  inHeaders: readonly ValueReference[],
): DrawnRequest {
  const places = Object.fromEntries(inUrl.map((reference, place) => [`p${place}`, reference]))
  const [path, ...parameters] = Object.keys(places).map((name) => `{${name}}`)
  const query = parameters.map((place, number) => `&q${number}=${place}`).join('')
  const separated = inBody.flatMap((reference, place) => (place === 0 ? [reference] : [',', reference]))
  return {
    url: `http://${op}/of${path === undefined ? '' : `/${path}`}/it?a=b${query}`,
    headers: { 'x-of': of },
    template: {
      body: [`{"of":"${of}","values":[`, ...separated, ']}'],
      ...(inUrl.length === 0 ? {} : { url: places }),
      ...(inHeaders.length === 0
        ? {}
        : { headers: Object.fromEntries(inHeaders.map((reference, place) => [`x-v${place}`, reference])) }),
    },
  }
}
