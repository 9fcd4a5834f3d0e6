import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isMap, isScalar, isSeq, type Node, parseDocument } from 'yaml'

/** A template whose short tags are written out: `!Ref A` is `{ Ref: 'A' }`, as in JSON. */
export interface Template {
  readonly Parameters: Readonly<Record<string, Parameter>>
  readonly Mappings: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, unknown>>>>>>
  readonly Conditions: Readonly<Record<string, unknown>>
  readonly Resources: Readonly<Record<string, Resource>>
  readonly Globals: { readonly Function: Properties }
  readonly [section: string]: unknown
}

export interface Parameter {
  readonly Type: string
  readonly Default?: string | number
  readonly AllowedValues?: readonly (string | number)[]
  readonly MaxValue?: number
}

export interface Resource {
  readonly Type: string
  readonly Condition?: string
  readonly DependsOn?: string | readonly string[]
  readonly Properties: Properties
}

export type Properties = Readonly<Record<string, unknown>>

/** The template breaks this rule. */
export interface Fault {
  readonly rule: string
  readonly detail: string
}

export const FOLDER = join(import.meta.dirname, '..')
export const TEMPLATE_PATH = join(FOLDER, 'template.yaml')

const FUNCTIONS = [
  'And',
  'Equals',
  'FindInMap',
  'GetAtt',
  'If',
  'Join',
  'Not',
  'Or',
  'Select',
  'Split',
  'Sub',
]
const BARE = ['Condition', 'Ref']

export function readTemplate(): Template {
  return parseTemplate(readFileSync(TEMPLATE_PATH, 'utf8'))
}

export function parseTemplate(text: string): Template {
  const document = parseDocument(text, { uniqueKeys: true })
  if (document.errors.length > 0) throw new Error(document.errors.map(({ message }) => message).join('\n'))
  return toPlain(document.contents) as Template
}

function toPlain(node: unknown): unknown {
  const tag = (node as Node & { tag?: string }).tag ?? ''
  const value = toUntagged(node)
  if (!tag.startsWith('!')) return value
  const name = tag.slice(1)
  if (BARE.includes(name)) return { [name]: value }
  if (!FUNCTIONS.includes(name)) throw new Error(`${tag} is no tag of CloudFormation that is known here`)
  return { [`Fn::${name}`]: name === 'GetAtt' ? readAttribute(value) : value }
}

function toUntagged(node: unknown): unknown {
  if (isScalar(node)) return node.value
  if (isSeq(node)) return node.items.map(toPlain)
  if (isMap(node))
    return Object.fromEntries(node.items.map((pair) => [toPlain(pair.key), toPlain(pair.value)]))
  throw new Error(`neither a map, a sequence nor a scalar: ${String(node)}`)
}

function readAttribute(value: unknown): unknown {
  if (typeof value !== 'string') return value
  const dot = value.indexOf('.')
  return [value.slice(0, dot), value.slice(dot + 1)]
}

export function findResources(
  { Resources }: Pick<Template, 'Resources'>,
  type: string,
): readonly (readonly [string, Resource])[] {
  return Object.entries(Resources).filter(([, resource]) => resource.Type === type)
}

/** Returns a list, since policies and dependencies may have one value in place of a list. */
export function toList(value: unknown): readonly unknown[] {
  if (value === undefined) return []
  return Array.isArray(value) ? value : [value]
}
