import type { Conversation, ToolDefinition } from './conversation.ts';
import { refuseField } from './refusal.ts';

/**
 * The tools that a request offers: those that are allowed. Tools that the caller's provider would have run itself are left out, since a
 * model manages without; throws `fields_invalid` for a request that is about nothing else.
 */
export function offeredTools({ tools, hostedTools, allowedTools }: Conversation): ToolDefinition[] {
  if (tools.length === 0 && hostedTools.length > 0)
    throw refuseField(
      hostedTools[0]!,
      'only the provider of that protocol can run this tool, and the request has no other tool',
    );
  if (allowedTools === null) return tools;
  return tools.filter(({ name, namespace }) =>
    allowedTools.some(
      (allowed) => allowed.name === name && (allowed.namespace === null || allowed.namespace === namespace),
    ),
  );
}

/** What a model is told of a tool that takes one text, where a protocol knows only objects. */
export function describeTextTool({ description, textFormat }: ToolDefinition): string {
  const grammar = textFormat as { definition?: unknown; syntax?: unknown } | null;
  const how =
    typeof grammar?.definition === 'string'
      ? `The text must follow this grammar (${String(grammar.syntax ?? 'lark')}):\n${grammar.definition}`
      : '';
  return [description ?? '', how].filter((text) => text !== '').join('\n\n');
}
