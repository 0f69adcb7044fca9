import { z } from 'zod';
import { type Call, type Caller, type Operation, operation } from './operation.ts';

/**
 * An operation that agents are offered by name over MCP, with what a client wants to know before it calls it
 * (`ToolAnnotations` of the protocol). It is called like every other operation; the command line and the docs read the
 * same declaration.
 */
export interface Tool<I extends z.ZodType = z.ZodType, O extends z.ZodType = z.ZodType>
  extends Operation<I, z.input<O>> {
  /** What it answers, in wire form. Kept small: agents pay for every byte of the list. */
  output: O;
  /** Changes or removes what was there, instead of only adding to it. */
  destructive: boolean;
  /** Calling it again with the same arguments changes nothing more. */
  idempotent: boolean;
  /** The answer as text, for clients that do not show structured content: enough to go on with. Without it, the JSON. */
  say?(result: z.output<O>): string;
}

/** `toWire` on types would hide mistakes here: a tool's `run` answers in wire form itself. */
export const tool = <I extends z.ZodType, O extends z.ZodType>(
  definition: Omit<Tool<I, O>, 'run' | 'destructive' | 'idempotent'> &
    Partial<Pick<Tool<I, O>, 'destructive' | 'idempotent'>> & {
      run(input: z.infer<I>, caller: Caller, call: Call): z.input<O> | Promise<z.input<O>>;
    },
): Tool =>
  ({
    isWire: true,
    destructive: false,
    idempotent: !definition.changes,
    ...operation(definition as never),
  }) as unknown as Tool;

export const isTool = (each: Operation): each is Tool => 'output' in each;

/** A tool as `tools/list` of the protocol describes it. */
export interface ToolDescription {
  name: string;
  description: string;
  inputSchema: { type: 'object' } & Record<string, unknown>;
  outputSchema: { type: 'object' } & Record<string, unknown>;
  annotations: { readOnlyHint?: boolean; destructiveHint?: boolean; idempotentHint?: boolean };
}

/** `{type: ['string', 'null']}` instead of a choice of two schemas: some providers refuse the one, all take the other. */
function withoutChoice(schema: Record<string, unknown>): void {
  const { anyOf } = schema as { anyOf?: { type?: string }[] };
  if (anyOf?.length !== 2 || anyOf[1]?.type !== 'null' || Object.keys(anyOf[1]).length !== 1) return;
  delete schema.anyOf;
  Object.assign(schema, { ...anyOf[0], type: [anyOf[0]?.type, 'null'] });
}

/**
 * Bounds that an agent does not run into by accident. They are checked all the same, and the refusal names them; every
 * byte of the list is read by every agent at every start.
 */
const UNTOLD = [
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'maxItems',
  'pattern',
  'additionalProperties',
];

/** JSON Schema 2020-12 of what an agent has to know. */
function schemaOf(schema: z.ZodType, io: 'input' | 'output'): ToolDescription['inputSchema'] {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    io,
    override({ jsonSchema }) {
      for (const name of UNTOLD) delete (jsonSchema as Record<string, unknown>)[name];
      if (Object.keys(jsonSchema.properties ?? { some: true }).length === 0) delete jsonSchema.properties;
      withoutChoice(jsonSchema as Record<string, unknown>);
      if (io === 'input') return;
      // Clients hold a refusal, which is `{code, message, hint}`, against the same schema as an answer.
      delete jsonSchema.required;
      // The answer itself shows which word it is.
      delete jsonSchema.enum;
      delete jsonSchema.description;
    },
  });
  return { ...rest, type: 'object' };
}

export const describeTool = (each: Tool): ToolDescription => ({
  name: each.name,
  description: each.about,
  inputSchema: schemaOf(each.input, 'input'),
  outputSchema: schemaOf(each.output, 'output'),
  // What is not said has the protocol's default: it changes, may destroy, and a second call is a second change.
  annotations: each.changes
    ? { destructiveHint: each.destructive, ...(each.idempotent ? { idempotentHint: true } : {}) }
    : { readOnlyHint: true },
});
