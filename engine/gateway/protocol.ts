/** The protocols in which agents ask for a model's answer, each with an error and a stream of its own. */
export type Protocol = 'chat' | 'responses' | 'messages' | 'gemini';

/** One server-sent event: its name, null where it has none, and its data, lines joined. */
export interface SseEvent {
  event: string | null;
  data: string;
}
