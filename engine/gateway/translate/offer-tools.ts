import type { Conversation, ToolDefinition } from './conversation.ts';
import { refuseField } from './refusal.ts';

/**
 * Returns the allowed tools of a request. Tools that the caller's provider would have run itself are omitted, since a
 * model manages without them; throws `fields_invalid` for a request about nothing else.
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

/** Returns the description of a text tool, in protocols that only know objects. */
export function describeTextTool({ description, textFormat }: ToolDefinition): string {
  const grammar = textFormat as { definition?: unknown; syntax?: unknown } | null;
  const how =
    typeof grammar?.definition === 'string'
      ? `The text must follow this grammar (${String(grammar.syntax ?? 'lark')}):\n${grammar.definition}`
      : '';
  return [description ?? '', how].filter((text) => text !== '').join('\n\n');
}
