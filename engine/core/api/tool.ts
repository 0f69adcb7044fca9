import { z } from 'zod';
import { mapKeys } from './map-keys.ts';
import type { Caller, Operation, OperationCall } from './operation.ts';

/**
 * An operation offered to agents over MCP, with the `ToolAnnotations` of the protocol. It is called like every other
 * operation; the command line and the docs read the same declaration.
 */
export interface Tool<
  N extends string = string,
  I extends z.ZodType = z.ZodType,
  O extends z.ZodType = z.ZodType,
  R = z.output<O>,
  P extends z.ZodType = z.ZodType,
  M extends FieldNames = FieldNames,
> extends Operation<N, I, R> {
  /** The parameters of agents; its `input` also has those of other clients. */
  parameters: P;
  /** Its answer as data, in wire form. */
  output: O;
  /** The names that fields of its result have in its answer: those of the parameters that take them. */
  names: M;
  /** True if it changes or removes existing data instead of only adding. */
  destructive: boolean;
  /** True if repeating it with the same arguments has no further effect. */
  idempotent: boolean;
  /** Returns the answer as text, which is all that an agent gets: enough to continue. Default: the JSON. */
  say?(result: z.output<O>): string;
}

/** Accepted from other clients, but not offered to agents, who read every byte of the list at every start. */
export const UNLISTED = { unlisted: true } as const;

/** The declaration of a tool. Without `parameters`, agents have those of the input that are not `UNLISTED`. */
type Definition<
  N extends string,
  I extends z.ZodObject,
  O extends z.ZodType,
  R,
  P extends z.ZodObject,
> = Omit<Operation<N, I>, 'run' | 'isWire' | 'result'> &
  Pick<Tool<N, I, O>, 'output' | 'say'> &
  Partial<Pick<Tool<N, I, O, R, P>, 'destructive' | 'idempotent' | 'parameters'>> & {
    run(input: z.output<I>, caller: Caller, call: OperationCall): R | Promise<R>;
  };

/** A tool's `run` returns wire form; its result is also its type, which the schema may only outline. */
export function tool<
  const N extends string,
  I extends z.ZodObject,
  O extends z.ZodType,
  R extends z.input<O> & object,
  P extends z.ZodObject = I,
>(definition: Definition<N, I, O, R, P>): Tool<N, I, O, R, P, Record<never, never>>;
export function tool<
  const N extends string,
  I extends z.ZodObject,
  O extends z.ZodType,
  R extends object,
  const M extends FieldNames,
  P extends z.ZodObject = I,
>(
  definition: Definition<N, I, O, R, P> & {
    names: RenamedFields<R, M> extends z.input<O> ? M : never;
  },
): Tool<N, I, O, R, P, M>;
export function tool(
  definition: Definition<string, z.ZodObject, z.ZodType, object, z.ZodObject> & { names?: FieldNames },
): Tool {
  return {
    destructive: false,
    idempotent: !definition.changes,
    parameters: withoutUnlisted(definition.input),
    names: {},
    ...definition,
    isWire: true,
  };
}

function withoutUnlisted(input: z.ZodObject): z.ZodObject {
  const fields = Object.entries(input.shape as Record<string, z.ZodType>);
  const listed = fields.filter(([, field]) => field.meta()?.unlisted !== true);
  return listed.length === fields.length ? input : z.strictObject(Object.fromEntries(listed));
}

/** Names in an answer by names in a result. */
export type FieldNames = Readonly<Record<string, string>>;

/** The type of a value whose fields are renamed. A renamed field replaces an earlier one of that name. */
export type RenamedFields<T, M extends FieldNames> = keyof M extends never
  ? T
  : T extends readonly (infer E)[]
    ? RenamedFields<E, M>[]
    : T extends object
      ? {
          [K in keyof T as K extends keyof M
            ? M[K]
            : K extends M[keyof T & keyof M]
              ? never
              : K]: RenamedFields<T[K], M>;
        }
      : T;

/** Renames fields at every depth. */
export function renameFields<T, const M extends FieldNames>(value: T, names: M): RenamedFields<T, M> {
  const wanted = new Map(Object.entries(names));
  return (wanted.size === 0 ? value : mapKeys(value, (name) => wanted.get(name) ?? name)) as RenamedFields<
    T,
    M
  >;
}

/** Returns the note in the text of a cut list about the rest. */
export const sayMore = (more: number): string[] =>
  more === 0 ? [] : [`and ${more} more: raise limit to see them`];

/** Returns the tool name of an operation: providers accept no dot in it. */
export const toolName = (operation: string): string => operation.replace('.', '_');

export const isTool = (each: Operation): each is Tool => 'output' in each;

/** A tool in the format of `tools/list` of the protocol. */
export interface ToolDescription {
  name: string;
  description: string;
  inputSchema: { type: 'object' } & Record<string, unknown>;
  annotations: { readOnlyHint?: boolean; destructiveHint?: boolean; idempotentHint?: boolean };
}

/** Writes `{type: ['string', 'null']}` instead of a choice of two schemas: some providers refuse the choice, all accept this. */
function withoutChoice(schema: Described): void {
  const { anyOf } = schema as { anyOf?: { type?: string }[] };
  if (anyOf?.length !== 2 || anyOf[1]?.type !== 'null' || Object.keys(anyOf[1]).length !== 1) return;
  delete schema.anyOf;
  Object.assign(schema, { ...anyOf[0], type: [anyOf[0]?.type, 'null'] });
}

/** The workspace's values for parameters that name one: `.meta({ names: 'agents' })`. */
export interface ToolNames {
  /** Presets whose program is installed. */
  agents: readonly string[];
  /** Registered projects. */
  projects: readonly string[];
}

/** Longer than any text that an agent writes in one call. */
const BEYOND_REACH = 1_000_000;

interface Described extends Record<string, unknown> {
  type?: unknown;
  description?: string;
  maximum?: number;
  maxLength?: number;
  maxItems?: number;
  names?: keyof ToolNames;
  /** Omitted: agents receive it without a description. */
  unlisted?: boolean;
  properties?: Record<string, Described>;
  items?: Described;
}

/**
 * Describes values in the description, which every agent reads, instead of the schema, where some providers refuse
 * it: the maximum value, and the possible names.
 */
function describeValues(schema: Described, names: ToolNames): void {
  const { maximum, maxLength, maxItems } = schema;
  const most = maxItems ?? (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? maximum : undefined);
  const known = schema.names === undefined ? [] : names[schema.names];
  const parts = [
    ...(schema.description === undefined ? [] : [schema.description.replace(/\.$/, '')]),
    ...(most === undefined ? [] : [`at most ${most}`]),
    ...(maxLength === undefined || maxLength >= BEYOND_REACH ? [] : [`at most ${maxLength} chars`]),
    ...(known.length === 0 ? [] : [`one of ${known.join(', ')}`]),
  ];
  delete schema.names;
  if (parts.length > 0) schema.description = parts.join('; ');
}

/** Bounds that an agent does not need or cannot exceed by accident: every byte of the list is read at every start. */
const UNTOLD = [
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'maxItems',
  'pattern',
  'additionalProperties',
];

/** Reduces a schema, recursively, to the parts that an agent needs. */
function tidySchema(schema: Described, names: ToolNames): void {
  withoutChoice(schema);
  describeValues(schema, names);
  for (const name of UNTOLD) delete schema[name];
  for (const [name, each] of Object.entries(schema.properties ?? {}))
    if (each.unlisted === true) delete schema.properties?.[name];
  if (schema.items?.unlisted === true) delete schema.items;
  if (Object.keys(schema.properties ?? { some: true }).length === 0) delete schema.properties;
  for (const each of Object.values(schema.properties ?? {})) tidySchema(each, names);
  if (schema.items !== undefined) tidySchema(schema.items, names);
}

/** Returns JSON Schema 2020-12 of the parts that an agent needs. */
function describeInput(schema: z.ZodType, names: ToolNames): ToolDescription['inputSchema'] {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  tidySchema(rest as Described, names);
  return { ...rest, type: 'object' };
}

export const describeTool = (
  each: Tool,
  names: ToolNames = { agents: [], projects: [] },
): ToolDescription => ({
  name: toolName(each.name),
  description: each.about,
  inputSchema: describeInput(each.parameters, names),
  // Omitted annotations have the protocol's defaults: it changes, may destroy, and a repeat is a second change.
  annotations: each.changes
    ? { destructiveHint: each.destructive, ...(each.idempotent ? { idempotentHint: true } : {}) }
    : { readOnlyHint: true },
});
