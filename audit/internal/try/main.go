package main
import ("context";"fmt";"os";"path/filepath";"github.com/pinfold-dev/pinfold/audit")
func main(){
 dir:=os.Args[1]
 r,err:=audit.Run(context.Background(), audit.Options{Dir:dir, Patterns: os.Args[2:]})
 if err!=nil{fmt.Fprintln(os.Stderr,err);os.Exit(2)}
 rel:=func(s string)string{ if x,err:=filepath.Rel(r.Root,s);err==nil{return x}; return s}
 cross,unk,fenced:=0,0,0
 for i,s:=range r.Slots{
  if s.Crosses(){cross++; if s.Fence().String()=="yes"{fenced++}} else if s.Unknown(){unk++}
  role:=""; sk:=""
  if len(s.Sinks)>0{role=s.Sinks[0].Role; sk=fmt.Sprintf("%s %s:%d",s.Sinks[0].Func,rel(s.Sinks[0].Pos.Filename),s.Sinks[0].Pos.Line)}
  m:=s.Main()
  fmt.Printf("%d. %s [%s %s %s] at %s:%d (%s) -> %s +%d | cross=%v unk=%v fence=%v frames=%d\n",i+1,s.Name,s.Kind,s.Verb,role,rel(s.Pos.Filename),s.Pos.Line,s.In,sk,len(s.Sinks)-1,s.Crosses(),s.Unknown(),s.Fence(),m.Frames)
  for k,o:=range s.Origins{ if k==8{fmt.Printf("     … %d more\n",len(s.Origins)-8);break}; fmt.Printf("     %s %q %s:%d f=%d scalar=%v fenced=%v\n",o.Class,o.Detail,rel(o.Pos.Filename),o.Pos.Line,o.Frames,o.Scalar,o.Fenced)
   if os.Getenv("PATHS")!=""{ for _,st:=range o.Path{fmt.Printf("          %s:%d %s in %s\n",rel(st.Pos.Filename),st.Pos.Line,st.What,st.In)}}}
 }
 fmt.Printf("sinks %d slots %d cross %d unknown %d fenced %d failed %d lines %d load %v walk %v\n",len(r.Sinks),len(r.Slots),cross,unk,fenced,len(r.Failed),r.Lines,r.Load,r.Walk)
 for _,f:=range r.Failed{fmt.Println("FAILED",f.Package,f.Err)}
}
