/** The protocols in which agents request a model's answer, each with its own errors and streams. */
export type Protocol = 'chat' | 'responses' | 'messages' | 'gemini';

/** One server-sent event: its name, or null, and its data with lines joined. */
export interface SseEvent {
  event: string | null;
  data: string;
}
