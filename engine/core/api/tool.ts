import { z } from 'zod';
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
> extends Operation<N, I, R> {
  /** Its answer in wire form. Kept small: agents pay for every byte of the list. */
  output: O;
  /** True if it changes or removes existing data instead of only adding. */
  destructive: boolean;
  /** True if repeating it with the same arguments has no further effect. */
  idempotent: boolean;
  /** Returns the answer as text for clients that do not show structured content: enough to continue. Default: the JSON. */
  say?(result: z.output<O>): string;
}

/** A tool's `run` returns wire form; its result is also its type, which the schema may only outline. */
export const tool = <
  const N extends string,
  I extends z.ZodType,
  O extends z.ZodType,
  R extends z.input<O> & object,
>(
  definition: Omit<Tool<N, I, O>, 'run' | 'destructive' | 'idempotent' | 'isWire' | 'result'> &
    Partial<Pick<Tool, 'destructive' | 'idempotent'>> & {
      run(input: z.output<I>, caller: Caller, call: OperationCall): R | Promise<R>;
    },
): Tool<N, I, O, R> => ({
  destructive: false,
  idempotent: !definition.changes,
  ...definition,
  isWire: true,
});

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
  outputSchema: { type: 'object' } & Record<string, unknown>;
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
  /** Omitted: clients set or receive it, and agents do not need it. */
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
function tidySchema(schema: Described, io: 'input' | 'output', names: ToolNames): void {
  withoutChoice(schema);
  if (io === 'input') describeValues(schema, names);
  for (const name of UNTOLD) delete schema[name];
  if (io === 'output') {
    // Clients validate a refusal, which is `{code, message, hint}`, against the same schema as an answer.
    delete schema.required;
    // The answer itself shows the enum value and the shape of its rows.
    delete schema.enum;
    delete schema.description;
    if (Object.keys(schema.items?.properties ?? {}).length === 0) delete schema.items;
  }
  for (const [name, each] of Object.entries(schema.properties ?? {}))
    if (each.unlisted === true) delete schema.properties?.[name];
  if (schema.items?.unlisted === true) delete schema.items;
  if (Object.keys(schema.properties ?? { some: true }).length === 0) delete schema.properties;
  for (const each of Object.values(schema.properties ?? {})) tidySchema(each, io, names);
  if (schema.items !== undefined) tidySchema(schema.items, io, names);
}

/** Returns JSON Schema 2020-12 of the parts that an agent needs. */
function schemaOf(
  schema: z.ZodType,
  io: 'input' | 'output',
  names: ToolNames,
): ToolDescription['inputSchema'] {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, { io });
  tidySchema(rest as Described, io, names);
  return { ...rest, type: 'object' };
}

export const describeTool = (
  each: Tool,
  names: ToolNames = { agents: [], projects: [] },
): ToolDescription => ({
  name: toolName(each.name),
  description: each.about,
  inputSchema: schemaOf(each.input, 'input', names),
  outputSchema: schemaOf(each.output, 'output', names),
  // Omitted annotations have the protocol's defaults: it changes, may destroy, and a repeat is a second change.
  annotations: each.changes
    ? { destructiveHint: each.destructive, ...(each.idempotent ? { idempotentHint: true } : {}) }
    : { readOnlyHint: true },
});
