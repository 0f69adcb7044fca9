export type Protocol = 'chat' | 'responses' | 'messages' | 'gemini';
export interface SseEvent {
  event: string | null;
  data: string;
}
