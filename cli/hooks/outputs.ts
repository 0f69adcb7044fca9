import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import type { Fields } from './tool-call.ts';

/** What a tool has answered, as far as its agent's hook is told. */
export interface ToolOutput {
  text: string;
  /** What its command ended with; null where that is not known, or said in the text. */
  exitCode: number | null;
  /** Whether the hook's answer can put another text in its place. */
  isReplaceable: boolean;
}

/** How an agent hands a tool's output to its hook, and takes another one in its place. */
interface OutputShape {
  /** Null for an output of another form, such as an image. */
  read(sent: Fields): ToolOutput | null;
  replace?: (sent: Fields, text: string, output: ToolOutput) => object;
}

const asText = (value: unknown): string | null => (typeof value === 'string' ? value : null);
const asFields = (value: unknown): Fields =>
  typeof value === 'object' && value !== null ? (value as Fields) : {};

const readable = (
  text: string | null,
  isReplaceable: boolean,
  exitCode: number | null = null,
): ToolOutput | null => (text === null ? null : { text, exitCode, isReplaceable });

const replaceHeard = (sent: Fields, updatedToolOutput: unknown): object => ({
  hookSpecificOutput: { hookEventName: asText(sent.hook_event_name) ?? 'PostToolUse', updatedToolOutput },
});

/** Its model is told of an exit code before the output, and a replaced output has nothing before it. */
const EXIT_LINE = 'Process exited with code ';

/** By the name of the preset, as tried with the versions of .ci/agents.sh. Another agent's output is never read. */
export const OUTPUTS: Readonly<Record<string, OutputShape>> = {
  claude: {
    read({ tool_response: given, error }) {
      // Of a tool that failed it takes no other output.
      if (typeof error === 'string') return readable(error, false);
      const { stdout, isImage } = asFields(given);
      return isImage === true ? null : readable(asText(stdout), true);
    },
    // Only one of the same form is taken.
    replace: (sent, stdout) => replaceHeard(sent, { ...asFields(sent.tool_response), stdout }),
  },
  codex: {
    read(sent) {
      const exitCode = findExitCode(sent);
      return readable(asText(sent.tool_response), exitCode !== null, exitCode);
    },
    replace: (_sent, text, { exitCode }) => ({
      decision: 'block',
      reason: `${EXIT_LINE}${exitCode}\nOutput:\n${text}`,
    }),
  },
  // It takes the place of an output for an error of the tool.
  gemini: { read: ({ tool_response: given }) => readable(asText(asFields(given).llmContent), false) },
  qwen: { read: ({ tool_response: given }) => readable(asText(asFields(given).llmContent), false) },
  opencode: {
    read: ({ tool_response: given }) => readable(asText(given), true),
    replace: replaceHeard,
  },
  copilot: {
    read: ({ tool_result: given }) => readable(asText(asFields(given).text_result_for_llm), true),
    replace: (sent, textResultForLlm) => ({
      modifiedResult: {
        resultType: asText(asFields(sent.tool_result).result_type) ?? 'success',
        textResultForLlm,
      },
    }),
  },
};

/** What the tool has answered; null where the agent does not say, or in no form that is known. */
export function readOutput(agent: string, sent: Fields): ToolOutput | null {
  return Object.hasOwn(OUTPUTS, agent) ? (OUTPUTS[agent]?.read(sent) ?? null) : null;
}

/** The agent's own words for another output; null where it cannot be replaced. */
export function replaceOutput(agent: string, sent: Fields, text: string, output: ToolOutput): object | null {
  return output.isReplaceable ? (OUTPUTS[agent]?.replace?.(sent, text, output) ?? null) : null;
}

/** The last line of a transcript has the output again, in JSON. */
const MOST_TRANSCRIPT_BYTES = 8 * 1024 * 1024;

/** Codex tells its hook no exit code, and has written one to its transcript by then. Null where it is not found. */
function findExitCode({ transcript_path: path, tool_use_id: id }: Fields): number | null {
  if (typeof path !== 'string' || typeof id !== 'string') return null;
  try {
    const lines = readEnd(path).split('\n').reverse();
    const ended = lines.find(
      (line) => line.includes('"CommandExecution"') && line.includes(JSON.stringify(id)),
    );
    const { payload } = JSON.parse(ended ?? '') as {
      payload?: { item?: { id?: unknown; exit_code?: unknown } };
    };
    const { id: found, exit_code: code } = payload?.item ?? {};
    return found === id && typeof code === 'number' ? code : null;
  } catch {
    return null;
  }
}

function readEnd(path: string): string {
  const file = openSync(path, 'r');
  try {
    const { size } = fstatSync(file);
    const bytes = Buffer.alloc(Math.min(size, MOST_TRANSCRIPT_BYTES));
    const read = readSync(file, bytes, 0, bytes.length, size - bytes.length);
    return bytes.toString('utf8', 0, read);
  } finally {
    closeSync(file);
  }
}
