import { z } from 'zod';
import { SvcError } from '../base/errors.ts';
import { type Operation, type Operations, wireOperation } from './operation.ts';
import { describeTool, isTool, type Tool, type ToolDescription, type ToolNames, toolName } from './tool.ts';

/**
 * The 46 tools in the order in which they are served (02 Endpoints): those of the Chair first. What is not built yet is
 * absent from the list that clients get.
 */
export const CHAIR_TOOLS = [
  'dispatch_worker',
  'task_add',
  'task_assign',
  'task_run',
  'worktree_promote',
  'worktree_prune',
  'worktree_status',
] as const;

export const SHARED_TOOLS = [
  'architecture',
  'ask',
  'ask_answer',
  'ask_list',
  'code_snippet',
  'context_crush',
  'context_externalize',
  'context_retrieve',
  'context_search',
  'entitlements_status',
  'impact',
  'inspect_symbol',
  'lock_acquire',
  'lock_check',
  'lock_release',
  'lock_status',
  'memory_conflicts',
  'memory_export',
  'memory_forget',
  'memory_import',
  'memory_list',
  'memory_recall',
  'memory_remember',
  'memory_sweep',
  'msg_ack',
  'msg_inbox',
  'msg_peers',
  'msg_roster',
  'msg_send',
  'msg_stale',
  'search_shared_symbols',
  'task_claim',
  'task_done',
  'task_list',
  'task_release',
  'trace_path',
  'usage_status',
  'verify_report',
  'verify_status',
] as const;

export const MANIFEST: readonly string[] = [...CHAIR_TOOLS, ...SHARED_TOOLS];

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
            hint: 'tools/list, or svc tool list, shows them',
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
