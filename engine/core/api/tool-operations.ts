import { z } from 'zod';
import { SvcError } from '../base/errors.ts';
import { sentence } from '../base/sentence.ts';
import { MANIFEST } from './manifest.ts';
import {
  type Caller,
  type CallOptions,
  type Operation,
  type Operations,
  wireOperation,
} from './operation.ts';
import {
  describeTool,
  type FieldNames,
  isTool,
  renameFields,
  type Tool,
  type ToolDescription,
  type ToolNames,
  toolName,
} from './tool.ts';
import { readValuesInText } from './values-in-text.ts';

/** The answer of a tool. */
export interface ToolAnswer {
  /** The part of its declaration that agents see. */
  result: Record<string, unknown>;
  /** The answer as text; null for its JSON. */
  text: string | null;
}

/** Calls an operation by its tool name. Throws `not_found` with `data.unknownTool`. */
export type CallTool = (
  name: string,
  input: unknown,
  caller: Caller,
  options?: CallOptions,
) => Promise<ToolAnswer>;

/**
 * Calls tools by name: the operation runs like any other, but its input is limited to the tool's parameters, and the
 * answer to its `output`.
 */
export function createToolCalls({ all, call }: Operations): CallTool {
  const tools = new Map(all.filter(isTool).map((each) => [toolName(each.name), each]));
  return async (name, input, caller, options) => {
    const found = tools.get(name);
    if (found === undefined) {
      throw new SvcError('not_found', `no tool ${JSON.stringify(name)}`, {
        hint: sentence`{tool.list} lists them`,
        data: { unknownTool: name },
      });
    }
    const { parameters, names } = found;
    const done = await call(found.name, readValuesInText(parameters, input), caller, {
      ...options,
      parameters,
    }).catch((error: unknown) => {
      throw withNames(error, names);
    });
    // Fields outside its output are for other clients.
    const result = found.output.parse(renameFields(done, names)) as ToolAnswer['result'];
    // The same content as JSON would double the traffic of the socket.
    return { result, text: found.say?.(result) ?? null };
  };
}

/** Returns a refusal whose facts have the names of an answer. */
function withNames(error: unknown, names: FieldNames): unknown {
  if (!(error instanceof SvcError) || Object.keys(names).length === 0) return error;
  const { code, message, hint, data } = error;
  return new SvcError(code, message, {
    cause: error,
    ...(hint === undefined ? {} : { hint }),
    data: renameFields(data, names),
  });
}

const isFor = (seat: Tool['seat'], caller: Caller): boolean =>
  seat === 'any' || caller.seat === 'chair' || (seat === 'trusted' && caller.ownWork == null);

interface Served {
  name: string;
  seat: Tool['seat'];
  description: ToolDescription;
}

/** Queries of clients about the tools among `operations`. */
export function toolOperations(
  operations: readonly Operation[],
  namesNow: () => ToolNames,
  isOffered: (operation: string) => boolean,
) {
  const place = new Map(MANIFEST.map((name, at) => [name, at]));
  const tools = new Map<string, Tool>(operations.filter(isTool).map((each) => [toolName(each.name), each]));
  const ordered = [...tools.values()].sort(
    (one, other) => (place.get(toolName(one.name)) ?? 0) - (place.get(toolName(other.name)) ?? 0),
  );
  let described: { names: string; served: Served[] } | null = null;

  function listServed(): Served[] {
    const now = namesNow();
    const names = JSON.stringify(now);
    if (described?.names !== names)
      described = {
        names,
        served: ordered.map((each) => ({
          name: each.name,
          seat: each.seat,
          description: describeTool(each, now),
        })),
      };
    return described.served;
  }

  return [
    wireOperation({
      name: 'tool.list',
      about: 'The tools that the caller’s seat may call, in the format of tools/list of MCP.',
      seat: 'any',
      changes: false,
      input: z.strictObject({}),
      run: (_input, caller): { tools: ToolDescription[] } => ({
        tools: listServed()
          .filter(({ name, seat }) => isFor(seat, caller) && isOffered(name))
          .map(({ description }) => description),
      }),
    }),
  ];
}
