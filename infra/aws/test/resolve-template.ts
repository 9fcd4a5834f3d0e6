import type { Properties, Resource, Template } from './template.ts'

export type ParameterValues = Readonly<Record<string, string>>

/** These parts of a template remain once its parameters are known. */
export interface Resolved {
  readonly Resources: Readonly<Record<string, Resource>>
  /** The environments of the functions contain the globals. */
  readonly environments: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

const ABSENT = Symbol('AWS::NoValue')

/**
 * Resolves a template's conditions as CloudFormation does. Values that only AWS knows (`Ref` of a resource, `Fn::Sub`)
 * stay as written.
 */
export function resolveTemplate(template: Template, given: ParameterValues): Resolved {
  const resolver = new Resolver(template, given)
  const Resources = Object.fromEntries(
    Object.entries(template.Resources)
      .filter(([, { Condition }]) => Condition === undefined || resolver.holds(Condition))
      .map(([name, resource]) => [name, resolver.value(resource) as Resource]),
  )
  const globals = getVariables(resolver.value(template.Globals.Function) as Properties)
  const environments = Object.entries(Resources)
    .filter(([, { Type }]) => Type === 'AWS::Serverless::Function')
    .map(([name, { Properties }]) => [name, { ...globals, ...getVariables(Properties) }])
  return { Resources, environments: Object.fromEntries(environments) }
}

/** Resolves one value in the same way. */
export function resolveValue(template: Template, given: ParameterValues, value: unknown): unknown {
  return new Resolver(template, given).value(value)
}

function getVariables({ Environment }: Properties): Properties {
  return (Environment as { readonly Variables: Properties }).Variables
}

class Resolver {
  readonly #template: Template
  readonly #given: ParameterValues

  constructor(template: Template, given: ParameterValues) {
    this.#template = template
    this.#given = given
  }

  holds(condition: string): boolean {
    return this.value(this.#template.Conditions[condition]) === true
  }

  value(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((item) => this.value(item)).filter((item) => item !== ABSENT)
    if (typeof value !== 'object' || value === null) return value
    const entries = Object.entries(value)
    const [first] = entries
    if (entries.length === 1 && first !== undefined) return this.#call(first[0], first[1], value)
    return this.#map(entries)
  }

  #map(entries: readonly (readonly [string, unknown])[]): Properties {
    const kept = entries
      .map(([key, inner]) => [key, this.value(inner)] as const)
      .filter(([, inner]) => inner !== ABSENT)
    return Object.fromEntries(kept)
  }

  #call(name: string, argument: unknown, whole: object): unknown {
    switch (name) {
      case 'Ref':
        return this.#readReferred(String(argument), whole)
      case 'Condition':
        return typeof argument === 'string' ? this.holds(argument) : this.#map([[name, argument]])
      case 'Fn::If': {
        const [condition, then, otherwise] = argument as readonly unknown[]
        return this.value(this.holds(String(condition)) ? then : otherwise)
      }
      case 'Fn::Equals': {
        const [left, right] = this.value(argument) as readonly unknown[]
        return String(left) === String(right)
      }
      case 'Fn::And':
        return (this.value(argument) as readonly unknown[]).every((item) => item === true)
      case 'Fn::Or':
        return (this.value(argument) as readonly unknown[]).some((item) => item === true)
      case 'Fn::Not':
        return (this.value(argument) as readonly unknown[])[0] !== true
      case 'Fn::FindInMap': {
        const [map, key, second] = this.value(argument) as readonly unknown[]
        return this.#template.Mappings[String(map)]?.[String(key)]?.[String(second)]
      }
      case 'Fn::GetAtt':
      case 'Fn::Sub':
        return whole
      default:
        return this.#map([[name, argument]])
    }
  }

  #readReferred(name: string, whole: object): unknown {
    if (name === 'AWS::NoValue') return ABSENT
    const parameter = this.#template.Parameters[name]
    return parameter === undefined ? whole : (this.#given[name] ?? parameter.Default ?? '')
  }
}
