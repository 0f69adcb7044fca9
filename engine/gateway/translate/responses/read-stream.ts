import { readUsage } from '../../protocols/usage.ts';
import type { BlockSink, ModelStreamReader, TranslatedExchange } from '../conversation.ts';
import { readFault } from '../faults.ts';
import { asFields, asFieldsList, asText, numberOrNull, type RequestFields, textOrNull } from '../fields.ts';
import { isCallItem, readCallItem, readEnding, sealItem, thoughtsOf } from './answer.ts';

/** A block and its text so far; end events repeat all of it. */
interface Said {
  key: string;
  text: string;
  part: number;
}

/** Numbers the items of a response: some servers reuse an index, or send none. */
function createItemNumbers(doneItems: ReadonlySet<number>) {
  /** The item at each number, by its id. */
  const ids = new Map<number, string>();
  /** The number of the last item at each index: some servers reuse an index, or send none. */
  const numbers = new Map<number, number>();
  let taken = 0;

  const current = (index: unknown): number => {
    const given = numberOrNull(index) ?? 0;
    return numbers.get(given) ?? given;
  };

  /** Returns the number of an item: its index, unless another item already had it. Ids of items may change, ids of calls do not. */
  function numberItem(index: unknown, item: RequestFields): number {
    const id = textOrNull(item.call_id) ?? textOrNull(item.id) ?? '';
    let number = current(index);
    const known = ids.get(number);
    if (known !== undefined && known !== id && (isCallItem(item) || doneItems.has(number))) {
      taken += 1;
      number = -taken;
      numbers.set(numberOrNull(index) ?? 0, number);
    }
    ids.set(number, id);
    return number;
  }

  return {
    current,
    numberItem,
    /** Returns the number of the call with that id. */
    findCall: (id: unknown): number | undefined =>
      [...ids].find(([, known]) => known !== '' && known === id)?.[0],
    /** Reports whether an index was used for more than one item. */
    haveRepeats: (): boolean => numbers.size > 0,
  };
}

/** Blocks of a response by their place; end events repeat all of their text. */
function createItemBlocks(sink: BlockSink) {
  const blocks = new Map<string, Said>();

  function append(said: Said, text: string): void {
    said.text += text;
    sink.append(said.key, text);
  }

  /** Appends the part of the whole text that was not sent yet: some servers only send the end. */
  function complete(said: Said, whole: string): void {
    if (whole.length > said.text.length && whole.startsWith(said.text))
      append(said, whole.slice(said.text.length));
  }

  function findOrOpen(key: string, open: () => void): Said {
    const known = blocks.get(key);
    if (known !== undefined) return known;
    const said = { key, text: '', part: 0 };
    blocks.set(key, said);
    open();
    return said;
  }

  const openPlain = (key: string, kind: 'text' | 'thinking' | 'refusal'): Said =>
    findOrOpen(key, () => sink.open(key, { kind }));

  const contentKey = (index: number, part: unknown): string => `${index}.${numberOrNull(part) ?? 0}`;

  function openCall(index: number, item: RequestFields): Said {
    const { id, name, namespace, takesText } = readCallItem(item);
    const key = `${index}`;
    return findOrOpen(key, () => sink.open(key, { kind: 'call', id, name, namespace, takesText }));
  }

  function appendThought(index: number, event: RequestFields): void {
    const said = openPlain(`${index}`, 'thinking');
    const part = numberOrNull(event.summary_index) ?? numberOrNull(event.content_index) ?? 0;
    if (part !== said.part && said.text !== '') append(said, '\n\n');
    said.part = part;
    append(said, asText(event.delta));
  }

  return {
    append,
    complete,
    openPlain,
    openCall,
    appendThought,
    contentKey,
    find: (key: string) => blocks.get(key),
  };
}

/** Reads the events up to `response.completed`, `response.incomplete` or `response.failed`. */
export function readStream(sink: BlockSink, { model }: TranslatedExchange): ModelStreamReader {
  const doneItems = new Set<number>();
  const { current, numberItem, findCall, haveRepeats } = createItemNumbers(doneItems);
  const blocks = createItemBlocks(sink);
  const { append, complete, openPlain, openCall, contentKey } = blocks;

  /** Emits the missing parts of a complete item and closes its blocks. */
  function finishItem(index: number, item: RequestFields): void {
    if (doneItems.has(index)) return;
    doneItems.add(index);
    if (isCallItem(item)) {
      const said = openCall(index, item);
      complete(said, asText(item.type === 'custom_tool_call' ? item.input : item.arguments));
      sink.close(said.key);
    } else if (item.type === 'reasoning') {
      const seal = sealItem(item, model);
      const text = thoughtsOf(item);
      if (text === '' && seal === null && blocks.find(`${index}`) === undefined) return;
      const said = openPlain(`${index}`, 'thinking');
      complete(said, text);
      if (seal !== null) sink.seal(said.key, seal);
      sink.close(said.key);
    } else if (item.type === 'message') {
      for (const [part, content] of asFieldsList(item.content).entries()) {
        const isRefusal = content.type === 'refusal';
        const said = openPlain(contentKey(index, part), isRefusal ? 'refusal' : 'text');
        complete(said, asText(isRefusal ? content.refusal : content.text));
        sink.close(said.key);
      }
    }
  }

  function finishResponse(response: RequestFields): void {
    for (const [index, item] of asFieldsList(response.output).entries()) {
      if (isCallItem(item) || !haveRepeats()) finishItem(findCall(item.call_id) ?? index, item);
    }
    const usage = readUsage('responses', response.usage);
    if (usage !== null) sink.setUsage(usage);
    sink.finish(readEnding(response));
  }

  return {
    read(data, name) {
      const event = asFields(data);
      const response = asFields(event.response);
      const index = current(event.output_index);
      switch (asText(event.type) || name) {
        case 'response.created':
        case 'response.in_progress':
          sink.start(textOrNull(response.id), textOrNull(response.model));
          return;
        case 'response.output_item.added': {
          const item = asFields(event.item);
          const number = numberItem(event.output_index, item);
          if (isCallItem(item)) openCall(number, item);
          return;
        }
        case 'response.output_text.delta':
          append(openPlain(contentKey(index, event.content_index), 'text'), asText(event.delta));
          return;
        case 'response.output_text.done':
          complete(openPlain(contentKey(index, event.content_index), 'text'), asText(event.text));
          return;
        case 'response.refusal.delta':
          append(openPlain(contentKey(index, event.content_index), 'refusal'), asText(event.delta));
          return;
        case 'response.refusal.done':
          complete(openPlain(contentKey(index, event.content_index), 'refusal'), asText(event.refusal));
          return;
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          blocks.appendThought(index, event);
          return;
        case 'response.function_call_arguments.delta':
        case 'response.custom_tool_call_input.delta': {
          const said = blocks.find(`${index}`);
          if (said !== undefined) append(said, asText(event.delta));
          return;
        }
        case 'response.function_call_arguments.done':
        case 'response.custom_tool_call_input.done': {
          const said = blocks.find(`${index}`);
          if (said !== undefined) complete(said, asText(event.arguments ?? event.input));
          return;
        }
        case 'response.output_item.done':
          finishItem(numberItem(event.output_index, asFields(event.item)), asFields(event.item));
          return;
        case 'response.completed':
          finishResponse(response);
          return;
        case 'response.incomplete':
          finishResponse({ ...response, status: 'incomplete' });
          return;
        case 'response.failed':
        case 'response.cancelled':
        case 'error':
          sink.fail(readFault(null, event));
          return;
        default:
      }
    },
  };
}
