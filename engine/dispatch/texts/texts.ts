import type { Task } from '../../board/tasks/index.ts';
import type { SessionOrder, SessionPlacement } from '../../workers/sessions/index.ts';

/** The known facts about a run when its texts are written. */
export interface TextSource {
  session: SessionOrder;
  task: Task;
  placement: SessionPlacement;
  /** The command by which the run reaches svc; null if it has none. */
  svc: string | null;
  /** True if there is a file of memories, next to the brief. */
  hasNotes: boolean;
  /** The run that this one continues; null for a first run. */
  earlier: {
    /** Why it was interrupted, a clause; null if that is unknown. */
    cause: string | null;
    /** True if its agent still has the conversation. */
    isRemembered: boolean;
    /** Its commits, newest first; null if they are unknown or not needed. */
    commits: readonly { id: string; subject: string }[] | null;
    /** The task of that run, if this one is a follow-up with a separate task; otherwise null. */
    followed: { taskId: string; title: string } | null;
  } | null;
}

/** `brief` is the file TASK_BRIEF.md; `resumption` is the prompt of a run that continues an earlier one. */
export type TextName = 'brief' | 'resumption';

/** The sections of a text in their order, with an empty line between two. One without lines is left out. */
const SECTIONS = ['title', 'facts', 'task', 'context', 'help'] as const;

/** Writes lines for one section of the workers' texts. The prompt itself is the approved one; nothing may be added to it. */
export interface TextContributor {
  name: string;
  text: TextName;
  section: (typeof SECTIONS)[number];
  write(source: TextSource): readonly string[];
}

/** Joins a text, ending with a newline. A contributor that throws is logged, and does not silence the others. */
export function composeText(
  { contributors, log }: { contributors: readonly TextContributor[]; log: Log },
  text: TextName,
  source: TextSource,
): string {
  const wanted = contributors.filter((each) => each.text === text);
  const sections = SECTIONS.map((section) =>
    wanted.filter((each) => each.section === section).flatMap((each) => writeOrNothing(each, source, log)),
  );
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

type Log = { warn(facts: object, text: string): void };

function writeOrNothing({ name, write }: TextContributor, source: TextSource, log: Log): readonly string[] {
  try {
    return write(source);
  } catch (error) {
    log.warn({ contributor: name, error }, 'part of a worker prompt was omitted');
    return [];
  }
}
