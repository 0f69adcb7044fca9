import { makeId } from '../answer-ids.ts';
import type { ContentBlock, EmitEvent, StreamWriter, TranslatedExchange } from '../conversation.ts';
import {
  callItem,
  describeEnding,
  describeFailure,
  describeResponse,
  messageItem,
  reasoningItem,
  refusalPart,
  textPart,
} from './answer.ts';

type Item = Record<string, unknown>;

const PREFIXES = { text: 'msg_', refusal: 'msg_', thinking: 'rs_' } as const;

const prefixOf = (block: ContentBlock): string => {
  if (block.kind !== 'call') return PREFIXES[block.kind];
  return block.takesText ? 'ctc_' : 'fc_';
};

/** Returns the item of a block. */
function itemOf(block: ContentBlock, id: string, status: string, text: string, seal: string | null): Item {
  switch (block.kind) {
    case 'call':
      return callItem(id, status, block, text);
    case 'thinking':
      return reasoningItem(id, text, seal);
    case 'text':
      return messageItem(id, status, status === 'completed' ? [textPart(text)] : []);
    case 'refusal':
      return messageItem(id, status, status === 'completed' ? [refusalPart(text)] : []);
  }
}

/** Writes the events of a response: each block is an item, and the last event repeats all of them. */
export function writeStream(emit: EmitEvent, exchange: TranslatedExchange): StreamWriter {
  let response: Item = {};
  let hasStarted = false;
  const output: Item[] = [];
  let sequence = 0;
  let itemId = '';
  let kind: ContentBlock['kind'] = 'text';
  let takesText = false;
  let hasSummary = false;

  const emitEvent = (type: string, fields: object): void =>
    emit({ type, ...fields, sequence_number: sequence++ }, type);

  /** Returns the position of the current block. */
  const describePosition = (): object => ({ item_id: itemId, output_index: output.length });
  const inContent = (): object => ({ ...describePosition(), content_index: 0 });
  const inSummary = (): object => ({ ...describePosition(), summary_index: 0 });

  function startResponse(id: string | null, model: string | null): void {
    hasStarted = true;
    response = describeResponse({ id, model }, exchange);
    emitEvent('response.created', { response });
    emitEvent('response.in_progress', { response });
  }

  function closePart(text: string): void {
    if (kind === 'text') {
      emitEvent('response.output_text.done', { ...inContent(), text, logprobs: [] });
      emitEvent('response.content_part.done', { ...inContent(), part: textPart(text) });
    } else if (kind === 'refusal') {
      emitEvent('response.refusal.done', { ...inContent(), refusal: text });
      emitEvent('response.content_part.done', { ...inContent(), part: refusalPart(text) });
    } else if (kind === 'thinking') {
      if (!hasSummary) return;
      emitEvent('response.reasoning_summary_text.done', { ...inSummary(), text });
      emitEvent('response.reasoning_summary_part.done', {
        ...inSummary(),
        part: { type: 'summary_text', text },
      });
    } else if (takesText)
      emitEvent('response.custom_tool_call_input.done', { ...describePosition(), input: text });
  }

  return {
    start: startResponse,
    open(block) {
      kind = block.kind;
      takesText = block.kind === 'call' && block.takesText;
      hasSummary = false;
      itemId = makeId(prefixOf(block));
      emitEvent('response.output_item.added', {
        output_index: output.length,
        item: itemOf(block, itemId, 'in_progress', '', null),
      });
      if (kind === 'text') emitEvent('response.content_part.added', { ...inContent(), part: textPart('') });
      if (kind === 'refusal')
        emitEvent('response.content_part.added', { ...inContent(), part: refusalPart('') });
    },
    append(delta) {
      if (kind === 'text') emitEvent('response.output_text.delta', { ...inContent(), delta, logprobs: [] });
      else if (kind === 'refusal') emitEvent('response.refusal.delta', { ...inContent(), delta });
      else if (kind === 'call')
        emitEvent(
          takesText ? 'response.custom_tool_call_input.delta' : 'response.function_call_arguments.delta',
          {
            ...describePosition(),
            delta,
          },
        );
      else {
        if (!hasSummary)
          emitEvent('response.reasoning_summary_part.added', {
            ...inSummary(),
            part: { type: 'summary_text', text: '' },
          });
        hasSummary = true;
        emitEvent('response.reasoning_summary_text.delta', { ...inSummary(), delta });
      }
    },
    close(block, text, seal) {
      if (block.kind === 'call' && !takesText)
        emitEvent('response.function_call_arguments.done', {
          ...describePosition(),
          name: block.name,
          arguments: text,
        });
      else closePart(text);
      const item = itemOf(block, itemId, 'completed', text, seal);
      emitEvent('response.output_item.done', { output_index: output.length, item });
      output.push(item);
    },
    finish(ending, usage) {
      const ended: Item = { ...response, ...describeEnding(ending, usage), output };
      emitEvent(ended.status === 'incomplete' ? 'response.incomplete' : 'response.completed', {
        response: ended,
      });
    },
    fail(fault) {
      if (!hasStarted) startResponse(null, null);
      emitEvent('response.failed', { response: { ...response, ...describeFailure(fault), output } });
    },
  };
}
