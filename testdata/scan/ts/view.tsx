// Components are not prompts.
export function View({ title, body }: { title: string; body: string }) {
  const cls = `card ${title}`;
  return <div className={cls} title={`About ${title}`}>{body} don't</div>;
}

export const systemMessage = (note: string) => "Notes from the CRM: " + note; // want PF001
