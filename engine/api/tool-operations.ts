import { z } from 'zod';
import { SvcError } from '../base/errors.ts';
import { sentence } from '../base/sentence.ts';
import { MANIFEST } from './manifest.ts';
import { type Operation, type Operations, wireOperation } from './operation.ts';
import { describeTool, isTool, type Tool, type ToolDescription, type ToolNames, toolName } from './tool.ts';

/** What clients may ask about the tools among `operations`. */
export function toolOperations(
  operations: readonly Operation[],
  call: Operations['call'],
  namesNow: () => ToolNames,
) {
  const place = new Map(MANIFEST.map((name, at) => [name, at]));
  const tools = new Map<string, Tool>(operations.filter(isTool).map((each) => [toolName(each.name), each]));
  const ordered = [...tools.values()].sort(
    (one, other) => (place.get(toolName(one.name)) ?? 0) - (place.get(toolName(other.name)) ?? 0),
  );
  let described: { names: string; served: { seat: Tool['seat']; description: ToolDescription }[] } | null =
    null;

  function served(): { seat: Tool['seat']; description: ToolDescription }[] {
    const now = namesNow();
    const names = JSON.stringify(now);
    if (described?.names !== names)
      described = {
        names,
        served: ordered.map((each) => ({ seat: each.seat, description: describeTool(each, now) })),
      };
    return described.served;
  }

  return [
    wireOperation({
      name: 'tool.list',
      about: 'The tools that the caller’s seat may call, as tools/list of MCP describes them.',
      seat: 'any',
      changes: false,
      input: z.strictObject({}),
      run: (_input, caller): { tools: ToolDescription[] } => ({
        tools: served()
          .filter(({ seat }) => seat === 'any' || caller.seat === 'chair')
          .map(({ description }) => description),
      }),
    }),
    wireOperation({
      name: 'tool.call',
      about:
        'Calls a tool by its name; answers its result and, where it is not just that as JSON, the same as text.',
      seat: 'any',
      changes: false, // the tool's own declaration says, and is asked
      input: z.strictObject({ name: z.string(), arguments: z.record(z.string(), z.unknown()) }),
      async run({ name, arguments: input }, caller, context) {
        const found = tools.get(name);
        if (found === undefined) {
          throw new SvcError('not_found', `no tool ${JSON.stringify(name)}`, {
            hint: sentence`{tool.list} shows them`,
            data: { unknownTool: name },
          });
        }
        // What its output does not name is for other clients.
        const result = found.output.parse(await call(found.name, input, caller, context)) as object;
        // The same again as JSON would double what goes over the socket.
        return { result, text: found.say?.(result) ?? null };
      },
    }),
  ];
}
