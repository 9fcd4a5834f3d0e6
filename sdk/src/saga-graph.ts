import type { Detached, NoProperties } from './part.ts'
import type { Ref } from './ref.ts'

/**
 * Says in the type of a saga which answers a branch may refer to. `answers` has the branches whose answer has a type,
 * `seen` for each branch those of them that come before what stands behind it, and `visible` is the same for what is
 * added next.
 */
export interface SagaGraph {
  readonly input: unknown
  readonly answers: object
  readonly seen: object
  readonly visible: string
}

/** A saga of branches without types. */
export interface PlainGraph extends SagaGraph {
  readonly input: unknown
  readonly answers: NoProperties
  readonly seen: NoProperties
  readonly visible: never
}

export type After = readonly string[] | undefined

/** Lists what a branch sees: by default what stands before it, else what leads to the branches that it names. */
export type Visible<Graph extends SagaGraph, Named extends After> = Named extends readonly string[]
  ? number extends Named['length']
    ? never
    : Extract<Graph['seen'][Named[number] & keyof Graph['seen']], string>
  : Graph['visible']

/** The references that a callback gets. */
export type Refs<Graph extends SagaGraph, Ids> = {
  readonly [Id in Exclude<Ids & keyof Graph['answers'], 'input'>]: Ref<Graph['answers'][Id]>
} & { readonly input: Ref<Graph['input'], never> }

/** References to all branches, for what comes after all of them. */
export type AllRefs<Graph extends SagaGraph> = Refs<Graph, keyof Graph['answers']>

type Flat<Type> = { readonly [Key in keyof Type]: Type[Key] }

/** The graph behind a branch that sees `Before` and gives an answer. */
export interface WithAnswer<Graph extends SagaGraph, Id extends string, Before, Answer> {
  readonly input: Graph['input']
  readonly answers: Flat<Graph['answers'] & Readonly<Record<Id, Answer>>>
  readonly seen: Flat<Graph['seen'] & Readonly<Record<Id, Before | Id>>>
  readonly visible: Extract<Before, string> | Id
}

/** The graph behind one without an answer. A saga of such branches alone keeps the plain graph. */
export type Through<Graph extends SagaGraph, Id extends string, Before> = [Before] extends [never]
  ? keyof Graph['answers'] extends never
    ? Graph
    : { [Key in keyof SagaGraph]: Key extends 'visible' ? never : Graph[Key] }
  : {
      readonly input: Graph['input']
      readonly answers: Graph['answers']
      readonly seen: Flat<Graph['seen'] & Readonly<Record<Id, Before>>>
      readonly visible: Extract<Before, string>
    }

/** The graph behind a part. A branch in it that names what it comes after may not see what stands before the part. */
export type WithPart<Graph extends SagaGraph, Ids extends string, Answers> = Answers extends Detached
  ? Through<Graph, Ids, never>
  : keyof Answers extends never
    ? Through<Graph, Ids, Graph['visible']>
    : {
        readonly input: Graph['input']
        readonly answers: Flat<Graph['answers'] & Answers>
        readonly seen: Flat<
          Graph['seen'] & { readonly [Id in Ids]: Graph['visible'] | Extract<Id, keyof Answers> }
        >
        readonly visible: Graph['visible'] | Extract<keyof Answers, string>
      }
