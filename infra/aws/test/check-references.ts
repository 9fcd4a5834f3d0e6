import { type Fault, type Template, toList } from './template.ts'

const PSEUDO_PARAMETERS: ReadonlySet<string> = new Set([
  'AWS::AccountId',
  'AWS::NoValue',
  'AWS::Partition',
  'AWS::Region',
  'AWS::StackName',
])

type Kind = 'parameter or resource' | 'resource' | 'condition' | 'mapping'

interface Reference {
  readonly kind: Kind
  readonly name: string
}

/** Checks that every used name is declared, and that every declared name is used. */
export function checkReferences(template: Template): Fault[] {
  // A rule about a parameter does not count as a use of it, and neither does its place in the console.
  const { Metadata: _metadata, Rules: _rules, ...used } = template
  const everywhere = [...findReferences({ ...used, Rules: template.Rules })]
  const inUse = [...findReferences(used)]
  return [
    ...everywhere.filter((reference) => !exists(template, reference)).map(toMissingNameFault),
    ...findUnused(template, 'Parameters', collectNames(inUse, 'parameter or resource')),
    ...findUnused(template, 'Conditions', collectNames(inUse, 'condition')),
    ...findUnused(template, 'Mappings', collectNames(inUse, 'mapping')),
    ...findUngrouped(template),
  ]
}

function* findReferences(value: unknown): Generator<Reference> {
  if (typeof value !== 'object' || value === null) return
  for (const [key, inner] of Object.entries(value)) {
    yield* readReference(key, inner)
    yield* findReferences(inner)
  }
}

function* readReference(key: string, value: unknown): Generator<Reference> {
  const first = String(toList(value)[0])
  if (key === 'Ref') yield { kind: 'parameter or resource', name: first }
  else if (key === 'Fn::GetAtt') yield { kind: 'resource', name: first }
  else if (key === 'Fn::If') yield { kind: 'condition', name: first }
  else if (key === 'Fn::FindInMap') yield { kind: 'mapping', name: first }
  // A condition of a policy is a map, and is none of CloudFormation's conditions.
  else if (key === 'Condition' && typeof value === 'string') yield { kind: 'condition', name: value }
  else if (key === 'DependsOn')
    for (const name of toList(value)) yield { kind: 'resource', name: String(name) }
  else if (key === 'Fn::Sub')
    for (const [, name = '', attribute] of first.matchAll(/\$\{([^!.}][^.}]*)(\.[^}]+)?\}/g))
      yield { kind: attribute === undefined ? 'parameter or resource' : 'resource', name }
}

function exists(
  { Parameters, Resources, Conditions, Mappings }: Template,
  { kind, name }: Reference,
): boolean {
  switch (kind) {
    case 'parameter or resource':
      return name in Parameters || name in Resources || PSEUDO_PARAMETERS.has(name)
    case 'resource':
      return name in Resources
    case 'condition':
      return name in Conditions
    case 'mapping':
      return name in Mappings
  }
}

function toMissingNameFault({ kind, name }: Reference): Fault {
  return { rule: 'names-exist', detail: `there is no ${kind} ${name}` }
}

function collectNames(found: readonly Reference[], kind: Kind): ReadonlySet<string> {
  return new Set(found.filter((reference) => reference.kind === kind).map(({ name }) => name))
}

function findUnused(
  template: Template,
  section: 'Parameters' | 'Conditions' | 'Mappings',
  names: ReadonlySet<string>,
): Fault[] {
  return Object.keys(template[section])
    .filter((name) => !names.has(name))
    .map((name) => ({ rule: 'names-are-used', detail: `nothing uses ${name} of ${section}` }))
}

interface Interface {
  readonly ParameterGroups: readonly { readonly Parameters: readonly string[] }[]
}

/** Finds parameters that the console would not show exactly once, in a group. */
function findUngrouped({ Metadata, Parameters }: Template): Fault[] {
  const shown = (Metadata as Readonly<Record<string, Interface>>)['AWS::CloudFormation::Interface']
  const grouped = (shown?.ParameterGroups ?? []).flatMap((group) => group.Parameters)
  const names = Object.keys(Parameters)
  return [...new Set([...grouped, ...names])]
    .filter((name) => grouped.filter((other) => other === name).length !== 1 || !names.includes(name))
    .map((name) => ({ rule: 'parameters-are-grouped', detail: `${name} is not in exactly one group` }))
}
