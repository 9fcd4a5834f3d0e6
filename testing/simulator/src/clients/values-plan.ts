/** Draws the values that the branches of a saga use of each other's answers. */
import type { RequestTemplate, SagaBranch, SagaDefinition, ValueReference } from '@counterstep/core'
import type { Random } from '../world/random.ts'

/** The pointer of the one value that is kept of an answer. */
const POINTER = '/id'

export interface ValuesPlan {
  readonly branches: readonly SagaBranch[]
  readonly values: NonNullable<SagaDefinition['values']>
}

/** How the services of a saga answer. Each list has a place for each branch. */
export interface AnswersPlan {
  /** The answer has no value. */
  readonly isSilent: readonly boolean[]
  /** A repeated call is answered with a new value, as by a service that does not keep its answers. */
  readonly isNew: readonly boolean[]
}

export function drawAnswers(random: Random, count: number): AnswersPlan {
  return {
    isSilent: Array.from({ length: count }, () => random.chance(0.1)),
    isNew: Array.from({ length: count }, () => random.chance(0.5)),
  }
}

/** Lets actions use values of the branches before them, and compensations also those of their own actions. */
export function drawValues(
  random: Random,
  gid: string,
  branches: readonly SagaBranch[],
  successors: readonly (readonly number[])[],
): ValuesPlan {
  const kept: string[][] = branches.map(() => [])
  const drawTemplate = (branch: number, from: readonly number[], mayLack: boolean): RequestTemplate => {
    const used = from.filter(() => random.chance(0.6))
    for (const producer of used) kept[producer] = [POINTER]
    return toTemplate(
      `${gid}/${branch}`,
      used.map((producer) => toReference(producer, mayLack || random.chance(0.5))),
    )
  }
  const drawn = branches.map((target, branch) => {
    const before = branches.map((_, other) => other).filter((other) => successors[other]?.includes(branch))
    const actionTemplate = drawTemplate(branch, before, false)
    if (target.compensation === undefined) return { ...target, actionTemplate }
    const { contentType, headers } = target
    const template = drawTemplate(branch, [...before, branch], true)
    return { ...target, actionTemplate, compensationContent: { body: '', contentType, headers, template } }
  })
  return { branches: drawn, values: { kept } }
}

function toReference(from: number, hasElse: boolean): ValueReference {
  return hasElse ? { from, value: 0, else: 'null' } : { from, value: 0 }
}

function toTemplate(of: string, references: readonly ValueReference[]): RequestTemplate {
  const listed = references.flatMap((reference, place) => (place === 0 ? [reference] : [',', reference]))
  return { body: [`{"of":"${of}","values":[`, ...listed, ']}'] }
}

/** Lists the references of a template of this file, in the order of their values in the body. */
export function listReferences({ body = [] }: RequestTemplate): readonly ValueReference[] {
  return body.filter((piece) => typeof piece !== 'string')
}

/** Reads the values from a body that was built from a template of this file, each as its text. */
export function readValues(body: string): readonly string[] {
  const list = /"values":\[([^\]]*)\]\}$/.exec(body)?.[1] ?? ''
  return list === '' ? [] : list.split(',')
}
