import { makeId } from '../answer-ids.ts';
import type { Block, EmitEvent, Exchange, StreamWriter } from '../conversation.ts';
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

const prefixOf = (block: Block): string => {
  if (block.kind !== 'call') return PREFIXES[block.kind];
  return block.takesText ? 'ctc_' : 'fc_';
};

/** Returns the item of a block. */
function itemOf(block: Block, id: string, status: string, text: string, seal: string | null): Item {
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
export function writeStream(emit: EmitEvent, exchange: Exchange): StreamWriter {
  let response: Item = {};
  let hasStarted = false;
  const output: Item[] = [];
  let sequence = 0;
  let itemId = '';
  let kind: Block['kind'] = 'text';
  let takesText = false;
  let hasSummary = false;

  const say = (type: string, fields: object): void =>
    emit({ type, ...fields, sequence_number: sequence++ }, type);

  /** Returns the position of the current block. */
  const at = (): object => ({ item_id: itemId, output_index: output.length });
  const inContent = (): object => ({ ...at(), content_index: 0 });
  const inSummary = (): object => ({ ...at(), summary_index: 0 });

  function start(id: string | null, model: string | null): void {
    hasStarted = true;
    response = describeResponse({ id, model }, exchange);
    say('response.created', { response });
    say('response.in_progress', { response });
  }

  function closePart(text: string): void {
    if (kind === 'text') {
      say('response.output_text.done', { ...inContent(), text, logprobs: [] });
      say('response.content_part.done', { ...inContent(), part: textPart(text) });
    } else if (kind === 'refusal') {
      say('response.refusal.done', { ...inContent(), refusal: text });
      say('response.content_part.done', { ...inContent(), part: refusalPart(text) });
    } else if (kind === 'thinking') {
      if (!hasSummary) return;
      say('response.reasoning_summary_text.done', { ...inSummary(), text });
      say('response.reasoning_summary_part.done', { ...inSummary(), part: { type: 'summary_text', text } });
    } else if (takesText) say('response.custom_tool_call_input.done', { ...at(), input: text });
  }

  return {
    start,
    open(block) {
      kind = block.kind;
      takesText = block.kind === 'call' && block.takesText;
      hasSummary = false;
      itemId = makeId(prefixOf(block));
      say('response.output_item.added', {
        output_index: output.length,
        item: itemOf(block, itemId, 'in_progress', '', null),
      });
      if (kind === 'text') say('response.content_part.added', { ...inContent(), part: textPart('') });
      if (kind === 'refusal') say('response.content_part.added', { ...inContent(), part: refusalPart('') });
    },
    append(delta) {
      if (kind === 'text') say('response.output_text.delta', { ...inContent(), delta, logprobs: [] });
      else if (kind === 'refusal') say('response.refusal.delta', { ...inContent(), delta });
      else if (kind === 'call')
        say(takesText ? 'response.custom_tool_call_input.delta' : 'response.function_call_arguments.delta', {
          ...at(),
          delta,
        });
      else {
        if (!hasSummary)
          say('response.reasoning_summary_part.added', {
            ...inSummary(),
            part: { type: 'summary_text', text: '' },
          });
        hasSummary = true;
        say('response.reasoning_summary_text.delta', { ...inSummary(), delta });
      }
    },
    close(block, text, seal) {
      if (block.kind === 'call' && !takesText)
        say('response.function_call_arguments.done', { ...at(), name: block.name, arguments: text });
      else closePart(text);
      const item = itemOf(block, itemId, 'completed', text, seal);
      say('response.output_item.done', { output_index: output.length, item });
      output.push(item);
    },
    finish(ending, usage) {
      const ended: Item = { ...response, ...describeEnding(ending, usage), output };
      say(ended.status === 'incomplete' ? 'response.incomplete' : 'response.completed', { response: ended });
    },
    fail(fault) {
      if (!hasStarted) start(null, null);
      say('response.failed', { response: { ...response, ...describeFailure(fault), output } });
    },
  };
}
