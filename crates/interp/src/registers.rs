//! States that no run made, to evaluate expressions in.

use crate::code::FuncCode;
use crate::layout::{Layout, VarLoc};
use crate::machine::{Cpu, number_slot};
use crate::memory::Memory;
use crate::state::State;
use palisade_cfa::*;
use std::rc::Rc;

/// A state of a function in which registers hold what one says, and there is no memory.
#[derive(Debug)]
pub struct Registers<'p> {
    program: &'p Program,
    layout: Layout,
    memory: Memory,
    cpu: Cpu,
    globals: Vec<crate::code::Slot>,
}

impl<'p> Registers<'p> {
    /// All registers of a function, and of the program, hold zero.
    pub fn new(program: &'p Program, func: FuncId) -> Self {
        let layout = Layout::new(program);
        let code = FuncCode { instrs: Box::default(), edges: Box::default(), regs: 0 };
        let regs = vec![Default::default(); layout.frames[func].regs as usize];
        let cpu = Cpu { func, code: Rc::new(code), pc: 0, regs, objects: 0, allocas: 0 };
        let globals = vec![Default::default(); layout.global_regs.len()];
        let memory = Memory::new(program.data_model, 0);
        Registers { program, layout, memory, cpu, globals }
    }

    /// Sets a variable, unless it is no register, holds pointers, or belongs to another function.
    pub fn set(&mut self, var: VarId, bits: u128) -> bool {
        let Some(ty) = self.program.scalar_of(self.program.vars[var].ty).filter(|ty| *ty != Scalar::Ptr)
        else {
            return false;
        };
        let slot = match self.layout.vars[var] {
            VarLoc::Reg(r) if self.layout.owners[var] == Some(self.cpu.func) => {
                &mut self.cpu.regs[r as usize]
            }
            VarLoc::GlobalReg(g) => &mut self.globals[g as usize],
            VarLoc::Reg(_) | VarLoc::Object(_) | VarLoc::GlobalObject(_) => return false,
        };
        *slot = number_slot(ty, bits);
        true
    }

    /// The state.
    pub fn state(&self) -> State<'_> {
        State {
            p: self.program,
            layout: &self.layout,
            mem: &self.memory,
            cpu: &self.cpu,
            globals: &self.globals,
            frames: &[],
            frame_objects: &[],
        }
    }
}
