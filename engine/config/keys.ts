import type * as z from 'zod';
import { ENVIRONMENT } from './environment.ts';
import { getAt } from './layers.ts';
import { configSchema, UNCOMPILED } from './schema.ts';

/** One key of svc.yaml, described for people and programs. */
export interface KeyInfo {
  /** Dotted path, e.g. `agents.timeout_sec`. */
  key: string;
  /** In the notation of the document: `string`, `int`, `*bool`, `map string->string`, … */
  type: string;
  /** The default value; null if that differs from every value or is an absent list or map. */
  default: unknown;
  /** The meaning of absent, zero or empty. */
  unset: string | null;
  /** The possible values of it, or of its entries. */
  allowed: string[] | null;
  description: string;
  /** The environment variable that overrides it. */
  env: string | null;
  /** True if it names a program, an address, a guard or a path: a file's value needs a person's consent. */
  consent: boolean;
  /** The planned feature that will use it; unused until then. Null for a key in use. */
  pending: string | null;
}

/** Returns a sentence about a pending key. */
export const describePending = (pending: string): string => `Not used yet: reserved for ${pending}.`;

/** A key with data for the generators. */
export interface KeyDetail extends KeyInfo {
  secret: boolean;
  example: unknown;
}

// The part of a zod schema's definition that walking needs; zod keeps the full one generic.
interface Definition {
  type: string;
  innerType?: z.ZodType;
  in?: z.ZodType;
  shape?: Record<string, z.ZodType>;
  element?: z.ZodType;
  valueType?: z.ZodType;
  entries?: Record<string, string>;
}

const readDefinition = (schema: z.ZodType): Definition => schema.def as unknown as Definition;

/** Returns the schema inside defaults, optionals and transforms. */
function unwrapSchema(schema: z.ZodType): z.ZodType {
  const { innerType, in: input } = readDefinition(schema);
  const inside = innerType ?? input;
  return inside ? unwrapSchema(inside) : schema;
}

/** Returns every key in the order of the document. */
export const describeKeys = (): KeyInfo[] =>
  describeKeyDetails().map(({ secret: _, example: __, ...info }) => info);

/** Does the same as `describeKeys`, with the examples and the keys of secrets. */
export function describeKeyDetails(): KeyDetail[] {
  const defaults = configSchema.parse({}, UNCOMPILED);
  const overrides = new Map(ENVIRONMENT.flatMap(({ key, name }) => (key ? [[key, name] as const] : [])));
  const found: KeyDetail[] = [];
  const walkSchema = (schema: z.ZodType, path: string[]): void => {
    const meta = schema.meta();
    if (meta?.notation === undefined) {
      const shape = readDefinition(unwrapSchema(schema)).shape ?? {};
      for (const [name, member] of Object.entries(shape)) walkSchema(member, [...path, name]);
      return;
    }
    const key = path.join('.');
    found.push({
      key,
      type: String(meta.notation),
      default: meta.nil ? null : (getAt(defaults, path) ?? null),
      unset: typeof meta.unset === 'string' ? meta.unset : null,
      allowed: listAllowedValues(schema),
      description: meta.description ?? '',
      env: overrides.get(key) ?? null,
      consent: meta.consent === true,
      pending: typeof meta.pending === 'string' ? meta.pending : null,
      secret: meta.secret === true,
      example: meta.example,
    });
  };
  walkSchema(configSchema, []);
  return found;
}

function listAllowedValues(schema: z.ZodType): string[] | null {
  const { type, entries, element, valueType } = readDefinition(unwrapSchema(schema));
  if (type === 'enum' && entries) return Object.values(entries).filter((value) => value !== '');
  if (type === 'boolean') return ['true', 'false'];
  const inside = type === 'array' ? element : type === 'record' ? valueType : undefined;
  return inside && readDefinition(unwrapSchema(inside)).type === 'enum' ? listAllowedValues(inside) : null;
}

/** Lists the names that an object may have at `path`; none if there is no object or its names are free. */
export function listNamesAt(schema: z.ZodType, path: readonly PropertyKey[]): string[] {
  let at: z.ZodType | undefined = schema;
  for (const segment of path) {
    const { shape, element, valueType } = readDefinition(unwrapSchema(at));
    at = shape ? shape[String(segment)] : (element ?? valueType);
    if (!at) return [];
  }
  return Object.keys(readDefinition(unwrapSchema(at)).shape ?? {});
}
