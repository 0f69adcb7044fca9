import type { ProviderFault } from '../protocols/fault.ts';
import type { UsageFigures } from '../protocols/usage.ts';
import { createCallerIds } from './call-ids.ts';
import { unwrapText } from './call-input.ts';
import type {
  AnswerEnding,
  BlockSink,
  ContentBlock,
  StreamWriter,
  TranslatedExchange,
} from './conversation.ts';
import { cutFault } from './faults.ts';
import { parseJson } from './fields.ts';

interface OpenBlock {
  key: string | number;
  block: ContentBlock;
  text: string;
  /** An unpaired surrogate at the end of the written text; its other half is in the next piece. */
  held: string;
  seal: string | null;
  isClosed: boolean;
  /** True if the arguments are written once complete: the caller's tool takes the text inside them. */
  isWrapped: boolean;
}

/** A sink that tracks the state of the stream. */
export interface BlockSequence extends BlockSink {
  /** Reports whether the stream has ended, successfully or not. */
  isOver(): boolean;
  /** Returns why the stream failed; null if it has not. */
  failure(): string | null;
}

const endsInHalf = (text: string): boolean => {
  const last = text.charCodeAt(text.length - 1);
  return last >= 0xd800 && last <= 0xdbff;
};

/** Reports whether the arguments of a call were cut off. */
function isBroken({ block, text, isWrapped }: OpenBlock): boolean {
  if (block.kind !== 'call' || block.takesText || text.trim() === '') return false;
  // A model may write the text of a text tool directly.
  return (!isWrapped || text.startsWith('{')) && parseJson(text) === undefined;
}

/** Returns the end of an answer with calls or a refusal: servers disagree about its name. */
export function settleEnding(
  ending: AnswerEnding,
  { hasCalls, hasRefused }: { hasCalls: boolean; hasRefused: boolean },
): AnswerEnding {
  if (hasRefused && ending.reason === 'stop') return { ...ending, reason: 'refusal' };
  if (hasCalls && (ending.reason === 'stop' || ending.reason === 'stop_sequence'))
    return { ...ending, reason: 'calls' };
  if (!hasCalls && ending.reason === 'calls') return { ...ending, reason: 'stop' };
  return ending;
}

/**
 * Serialises the blocks of a stream for a writer: one at a time, in the order of their start. Content of a later
 * block waits until earlier blocks are closed. Calls get the caller's names, and `{}` if they have no arguments.
 */
export function sequenceBlocks(writer: StreamWriter, exchange: TranslatedExchange): BlockSequence {
  const { names } = exchange;
  const nextId = createCallerIds(exchange);
  /** In the order of their start; the writer has the first. */
  let blocks: OpenBlock[] = [];
  let usage: UsageFigures | null = null;
  let hasStarted = false;
  let hasCalls = false;
  let hasRefused = false;
  let isOver = false;
  let failure: string | null = null;

  function startAnswer(id: string | null, model: string | null): void {
    if (hasStarted || isOver) return;
    hasStarted = true;
    writer.start(id, model, usage);
  }

  function failAnswer(fault: ProviderFault): void {
    if (isOver) return;
    isOver = true;
    failure = fault.message;
    blocks = [];
    writer.fail(fault);
  }

  function writeText(open: OpenBlock, text: string): void {
    const whole = open.held + text;
    open.held = '';
    if (whole === '') return;
    if (!endsInHalf(whole)) {
      writer.append(whole);
      return;
    }
    open.held = whole.slice(-1);
    if (whole.length > 1) writer.append(whole.slice(0, -1));
  }

  function writeClose(open: OpenBlock): void {
    if (open.isWrapped) {
      open.text = unwrapText(open.text).toWellFormed();
      writeText(open, open.text);
    } else if (open.block.kind === 'call' && !open.block.takesText && open.text.trim() === '') {
      open.text = '{}';
      writeText(open, open.text);
    }
    if (open.held !== '') {
      writer.append('\ufffd');
      open.held = '';
    }
    writer.close(open.block, open.text.toWellFormed(), open.seal);
  }

  /**
   * Passes the next blocks to the writer, up to the first open one. Only the end of the answer shows whether the
   * limit cut off a call.
   */
  function advance(ending: AnswerEnding | null): void {
    while (blocks.length > 0) {
      const [first] = blocks as [OpenBlock];
      if (!first.isClosed || (ending === null && isBroken(first))) return;
      writeClose(first);
      blocks.shift();
      const next = blocks[0];
      if (next === undefined) return;
      writer.open(next.block);
      if (!next.isWrapped) writeText(next, next.text);
    }
  }

  const findOpenBlock = (key: string | number): OpenBlock | undefined =>
    blocks[0]?.key === key ? blocks[0] : blocks.find((each) => each.key === key);

  function nameForCaller(block: ContentBlock): { block: ContentBlock; isWrapped: boolean } {
    if (block.kind !== 'call') return { block, isWrapped: false };
    const named = names.toCaller(block.name);
    return {
      block: { ...block, ...named, id: nextId(block.id), namespace: named.namespace ?? block.namespace },
      isWrapped: named.takesText && !block.takesText,
    };
  }

  return {
    start: startAnswer,
    open(key, block) {
      if (isOver) return;
      startAnswer(null, null);
      if (block.kind === 'call') hasCalls = true;
      if (block.kind === 'refusal') hasRefused = true;
      const named = nameForCaller(block);
      blocks.push({ key, text: '', held: '', seal: null, isClosed: false, ...named });
      if (blocks.length === 1) writer.open(named.block);
    },
    append(key, text) {
      const open = findOpenBlock(key);
      if (open === undefined || open.isClosed || text === '') return;
      open.text += text;
      if (open === blocks[0] && !open.isWrapped) writeText(open, text);
    },
    seal(key, seal) {
      const open = findOpenBlock(key);
      if (open !== undefined) open.seal = seal;
    },
    close(key) {
      const open = findOpenBlock(key);
      if (open === undefined) return;
      open.isClosed = true;
      advance(null);
    },
    setUsage(next) {
      usage = next;
    },
    finish(ending) {
      if (isOver) return;
      startAnswer(null, null);
      if (ending.reason !== 'length' && blocks.some(isBroken)) {
        failAnswer({ ...cutFault(), message: 'the answer of the provider ended in the middle of a call' });
        return;
      }
      for (const open of blocks) open.isClosed = true;
      advance(ending);
      isOver = true;
      writer.finish(settleEnding(ending, { hasCalls, hasRefused }), usage);
    },
    fail: failAnswer,
    isOver: () => isOver,
    failure: () => failure,
  };
}
